"""Languages without blanks between words: Japanese and Chinese."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hyperbaton.corpus.detokenizers import Detokenizer

# Two neighbours that match this where they touch need a blank between them.
_LATIN = re.compile(r"[0-9A-Za-zÀ-ɏͰ-ϿЀ-ӿ]")


@dataclass
class Unspaced(Detokenizer):
    """No blanks, except between two words or numbers in Latin script, and after their punctuation."""

    def blanks(self, tokens: Sequence[str]) -> list[bool]:
        found = [False]
        for before, token in itertools.pairwise(tokens):
            words = _LATIN.match(before[-1:]) and _LATIN.match(token[:1])
            # "Hello, world": a blank precedes a Western word after Western punctuation.
            punctuated = before[-1:] in tuple(",.;:!?)") and _LATIN.match(token[:1]) and not token[:1].isdigit()
            found.append(bool(words or punctuated))
        return found[: len(tokens)]
