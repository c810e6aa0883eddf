"""Tokens separated by blanks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hyperbaton.corpus.detokenizers import Detokenizer


@dataclass
class None_(Detokenizer):
    """No detokenizer: a blank between any two tokens."""

    def blanks(self, tokens: Sequence[str]) -> list[bool]:
        return [True] * len(tokens)
