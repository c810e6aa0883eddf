"""Rule tables from a dictionary, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperbaton.corpus import Text
from hyperbaton.phrases import PhraseTable
from hyperbaton.phrases.inventory import Phrases

Rules = Mapping[tuple[str, str], tuple[Sequence[float], Sequence[tuple[int, int]]]]


def rule_table(rules: Rules) -> PhraseTable:
    """A table of (source, target) → (scores, links between words, by symbol)."""
    rows = sorted(rules, key=lambda rule: [f"{side} |||".encode() for side in rule])
    sides = [sorted({rule[side] for rule in rules}, key=lambda text: f"{text} |||".encode()) for side in (0, 1)]
    source, target = (Phrases(text.offsets, text.tokens, text.vocabulary) for text in map(Text.of, sides))
    links = [rules[row][1] for row in rows]
    return PhraseTable(
        source,
        target,
        np.searchsorted([sides[0].index(row[0]) for row in rows], np.arange(len(sides[0]) + 1)).astype(np.int64),
        np.array([sides[1].index(row[1]) for row in rows], np.uint32),
        np.array([rules[row][0] for row in rows], np.float32),
        np.ones((len(rows), 3), np.float32),
        np.cumsum([0, *map(len, links)]).astype(np.int64),
        np.array([link for own in links for link in own], np.uint8).reshape(-1, 2),
    )
