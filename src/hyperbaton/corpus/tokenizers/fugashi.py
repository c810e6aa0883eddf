"""Japanese words and tags by fugashi (MeCab) with the dictionary unidic-lite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hyperbaton.base.errors import import_failure
from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class Fugashi(Tokenizer):
    """Japanese: the short units of UniDic, with the first two levels of its parts of speech (名詞-普通名詞)."""

    has_tags: ClassVar[bool] = True
    language_code: ClassVar[str] = "ja"

    @cached_property
    def engine(self) -> Any:
        try:
            import fugashi
            import unidic_lite
        except ImportError as error:
            raise import_failure(error, "fugashi with unidic-lite", "japanese", "fugashi unidic_lite") from error
        return fugashi.Tagger(f'-d "{unidic_lite.DICDIR}" -r "{unidic_lite.DICDIR}/mecabrc"')

    def split(self, line: str) -> list[tuple[str, str]]:
        return [(word.surface, _tag(word.feature)) for word in self.engine(line)]


def _tag(feature: Any) -> str:
    levels = [level for level in (feature.pos1, feature.pos2) if level and level != "*"]
    return "-".join(levels) or "_"
