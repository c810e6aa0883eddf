"""Japanese tags by fugashi (MeCab) with the dictionary unidic-lite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hyperbaton.corpus.taggers import Tagger
from hyperbaton.corpus.tokenizers.fugashi import load_mecab, tag_of


@dataclass
class Fugashi(Tagger):
    """Japanese: the first two levels of UniDic's parts of speech (名詞-普通名詞)."""

    language_code: ClassVar[str] = "ja"

    @cached_property
    def engine(self) -> Any:
        return load_mecab("-p")  # partial parsing: words are given, MeCab chooses among their entries

    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        return (self._tags(sentence) for sentence in sentences)

    def _tags(self, sentence: Sequence[str]) -> list[str]:
        lines = "".join(f"{token}\t*\n" for token in sentence)
        return [tag_of(word.feature) for word in self.engine(f"{lines}EOS\n")]
