"""Text that is tokenized already."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.corpus.tokenizers import Tokenizer


@dataclass
class None_(Tokenizer):
    """No tokenizer: the tokens are what stands between blanks."""

    def split(self, line: str) -> list[tuple[str, str]]:
        return [(line, "")]
