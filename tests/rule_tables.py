"""Rule tables from a dictionary, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperbaton.corpus import Text
from hyperbaton.phrases import PhraseTable, RuleTable
from hyperbaton.phrases.inventory import Phrases
from hyperbaton.phrases.pair_values import LinkSets, PlainCounts, PlainScores
from hyperbaton.phrases.rules import SOURCE_GAPS, TARGET_GAPS

Rules = Mapping[tuple[str, str], tuple[Sequence[float], Sequence[tuple[int, int]]]]


def rule_table(rules: Rules) -> RuleTable:
    """A table of (source, target) → (scores, links between words, by symbol)."""
    rows = sorted(rules, key=lambda rule: [f"{side} |||".encode() for side in rule])
    sides = [sorted({rule[side] for rule in rules}, key=lambda text: f"{text} |||".encode()) for side in (0, 1)]
    source, target = map(_phrases, sides, (SOURCE_GAPS, TARGET_GAPS))
    links = [rules[row][1] for row in rows]
    table = PhraseTable(
        source,
        target,
        np.searchsorted([sides[0].index(row[0]) for row in rows], np.arange(len(sides[0]) + 1)).astype(np.int64),
        np.array([sides[1].index(row[1]) for row in rows], np.uint32),
        PlainScores(np.array([rules[row][0] for row in rows], np.float32)),
        PlainCounts(np.ones((len(rows), 3), np.float32)),
        LinkSets.of(
            np.cumsum([0, *map(len, links)]).astype(np.int64),
            np.array([link for own in links for link in own], np.uint8).reshape(-1, 2),
        ),
    )
    return RuleTable(table)


def _phrases(sides: list[str], gaps: tuple[str, ...]) -> Phrases:
    """Sides of rules, over a vocabulary that ends in the gaps."""
    words = {word: None for side in sides for word in side.split() if word not in gaps}
    vocabulary = Text.of([" ".join([*words, *gaps])]).vocabulary
    text = Text.of(sides).over(vocabulary)
    return Phrases.of(text.offsets, text.tokens, vocabulary)
