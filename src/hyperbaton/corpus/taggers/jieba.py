"""Chinese tags by jieba."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from hyperbaton.corpus.taggers import Tagger
from hyperbaton.corpus.tokenizers.jieba import Jieba as JiebaTokenizer


@dataclass
class Jieba(Tagger):
    """Chinese: the tags of jieba's dictionary; an unknown word has the tag of its last part."""

    language_code: ClassVar[str] = "zh"

    @cached_property
    def engine(self) -> Any:
        return JiebaTokenizer().engine

    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        return ([self._tag(token) for token in sentence] for sentence in sentences)

    def _tag(self, token: str) -> str:
        known: str | None = self.engine.word_tag_tab.get(token)
        return known or next((pair.flag for pair in reversed(list(self.engine.cut(token)))), "")
