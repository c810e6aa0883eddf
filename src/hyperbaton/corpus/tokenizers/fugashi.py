"""Japanese words and tags by fugashi (MeCab) with the dictionary unidic-lite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hyperbaton.base.errors import importing
from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class Fugashi(Tokenizer):
    """Japanese: the short units of UniDic, with the first two levels of its parts of speech (名詞-普通名詞)."""

    has_tags: ClassVar[bool] = True
    language_code: ClassVar[str] = "ja"

    @cached_property
    def engine(self) -> Any:
        return load_mecab()

    def split(self, line: str) -> list[tuple[str, str]]:
        return [(word.surface, tag_of(word.feature)) for word in self.engine(line)]


def load_mecab(options: str = "") -> Any:
    """MeCab with the dictionary, and further options of its command line; features of words are tuples."""
    with importing("fugashi with unidic-lite", "japanese", "fugashi unidic_lite"):
        import fugashi
        import unidic_lite
    # The other tagger class parses a line on construction, which ends the process with some options.
    return fugashi.GenericTagger(f'{options} -d "{unidic_lite.DICDIR}" -r "{unidic_lite.DICDIR}/mecabrc"')


def tag_of(feature: Sequence[str]) -> str:
    """The first two levels of a word's part of speech."""
    return "-".join(level for level in feature[:2] if level and level != "*") or "_"
