"""European languages, tokenized like the Moses scripts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperbaton.base.errors import importing
from hyperbaton.base.options import option
from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class Sacremoses(Tokenizer):
    """European languages: the rules of Moses' tokenizer.perl."""

    language: str = option("en", "two-letter code: decides abbreviations and apostrophes")
    escapes: bool = option(False, "write &apos; for an apostrophe and so on, as Moses does")

    @cached_property
    def engine(self) -> Any:
        with importing("sacremoses", "european", "sacremoses"):
            from sacremoses import MosesTokenizer
        engine = MosesTokenizer(lang=self.language)
        # The library would rebuild these sets for every token that ends with a full stop.
        letters, small = frozenset(engine.IsAlpha), frozenset(engine.IsLower)
        engine.isanyalpha = lambda text: not letters.isdisjoint(text)
        engine.islower = small.issuperset
        return engine

    def split(self, line: str) -> list[tuple[str, str]]:
        return [(token, "") for token in self.engine.tokenize(line, escape=self.escapes)]
