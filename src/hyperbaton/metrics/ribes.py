"""RIBES (Isozaki et al. 2010): rank correlation of the words that hypothesis and reference share.

    RIBES = 100 · NKT · P^α · BP^β,  α = 0.25, β = 0.10

Words are matched one to one, those that occur several times by the words around them. NKT = (τ + 1)/2 is the share of
pairs of matched words in the same order, P the share of the hypothesis that is matched, BP the brevity penalty of BLEU. The
value of a corpus is the mean of its sentences; of several references the best counts. Statistics: value, 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs


@dataclass
class Ribes(Metric):
    """RIBES: how the order of shared words agrees.

    >>> round(Ribes().value(Outputs.of(["Bob hit John yesterday"], ["John hit Bob yesterday"])), 1)
    50.0
    """

    title: ClassVar[str] = "RIBES"

    alpha: float = option(0.25, "exponent of the share of matched words", minimum=0)
    beta: float = option(0.10, "exponent of the brevity penalty", minimum=0)
    lowercase: bool = option(False, "ignore case")

    def statistics(self, outputs: Outputs) -> Statistics:
        def split(lines: Sequence[str]) -> list[list[str]]:
            return [(line.lower() if self.lowercase else line).split() for line in lines]

        references = [split(text) for text in outputs.references]
        values = [
            max(self._sentence(words, reference[s]) for reference in references)
            for words, s in zip(split(outputs.hypotheses), outputs.line.tolist(), strict=True)
        ]
        return np.column_stack([100 * np.array(values, np.float64), np.ones(len(values))])

    def score(self, sums: Statistics) -> Values:
        return ratio(sums[..., 0], sums[..., 1])

    def _sentence(self, hypothesis: list[str], reference: list[str]) -> float:
        if not hypothesis:
            return float(not reference)
        ranks = matched_ranks(hypothesis, reference)
        if len(ranks) < 2:
            # No pair to order: right only if the reference has no other word either.
            agreement = float(len(ranks) == len(reference) == 1)
        else:
            places = np.array(ranks)
            agreement = np.triu(places[:, None] < places[None, :]).sum() / math.comb(len(ranks), 2)
        brevity = min(1.0, math.exp(1 - len(reference) / len(hypothesis)))
        return float(agreement * (len(ranks) / len(hypothesis)) ** self.alpha * brevity**self.beta)


def matched_ranks(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Places in the reference of the hypothesis' words, as far as the words around them tell.

    A word matches when it occurs once on both sides, or with as few words as it takes on its right or left
    (right first) to make an n-gram that does.

    >>> matched_ranks("the book was read by the boy".split(), "the boy read the book".split())
    [3, 4, 2, 0, 1]
    """
    own, other = Counter(hypothesis), Counter(reference)
    ranks = []
    for i, word in enumerate(hypothesis):
        if word not in other:
            continue
        if own[word] == other[word] == 1:
            ranks.append(reference.index(word))
            continue
        for window in range(1, min(max(i + 1, len(hypothesis) - i), len(reference))):
            right = _only_place(hypothesis, reference, i, i + window + 1)
            if right is not None:
                ranks.append(right)
                break
            left = _only_place(hypothesis, reference, i - window, i + 1)
            if left is not None:
                ranks.append(left + window)
                break
    return ranks


def _only_place(hypothesis: Sequence[str], reference: Sequence[str], begin: int, end: int) -> int | None:
    """Where in the reference the words begin … end of the hypothesis are, if they are once in both."""
    if begin < 0 or end > len(hypothesis):
        return None
    wanted, width = hypothesis[begin:end], end - begin
    found = [
        j for j in range(len(reference) - width + 1) if reference[j] == wanted[0] and reference[j : j + width] == wanted
    ]
    if len(found) != 1:
        return None
    again = (j for j in range(len(hypothesis) - width + 1) if j != begin and hypothesis[j] == wanted[0])
    return None if any(hypothesis[j : j + width] == wanted for j in again) else found[0]
