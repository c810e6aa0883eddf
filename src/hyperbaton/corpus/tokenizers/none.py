"""No tokenization, for text that is already tokenized."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class None_(Tokenizer):
    """No tokenizer: tokens are separated by blanks."""

    def split(self, line: str) -> list[tuple[str, str]]:
        return [(line, "")]
