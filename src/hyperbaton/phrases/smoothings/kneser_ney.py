"""Modified Kneser-Ney smoothing of phrase probabilities (Foster et al. 2006, with the discounts of Chen and Goodman 1998).

    p(t|s) = (c(s, t) - D(c(s, t))) / c(s) + λ(s) p(t),    p(t) = n(t) / n

n(t) is the number of distinct source phrases seen with t, n the number of pairs, and λ(s) the mass freed by the discounts.
The three discounts D1, D2 and D3+ come from the counts of counts.
"""

from collections.abc import Iterator

import numpy as np

from hyperbaton.phrases.smoothing import Doubles, PairCounts, Smoothing


class KneserNey(Smoothing):
    """Discounted counts; the rest goes to target phrases in proportion to their number of source phrases."""

    def probabilities(self, counts: PairCounts) -> Iterator[Doubles]:
        discounts = _discounts(counts.count_of_counts(4))
        totals = counts.given_totals
        freed = counts.sums_by_given(lambda joint: discounts[np.minimum(joint, 3)])
        spread = counts.reversed().sums_by_given(np.ones_like)  # the number of given phrases of each predicted one
        for rows in counts.rows():
            joint, given = counts.joint[rows], counts.given[rows]
            kept = (joint - discounts[np.minimum(joint, 3)]) / totals[given]
            backed_off = spread[counts.predicted[rows]] / len(counts.joint)
            yield kept + freed[given] / np.maximum(totals[given], 1) * backed_off


def _discounts(n: Doubles) -> Doubles:
    """(unused, D1, D2, D3+); one half of each count if the counts of counts are insufficient."""
    if not n[1:5].all():
        return np.array([0.0, 0.5, 0.75, 0.75])
    y = n[1] / (n[1] + 2 * n[2])
    raw = np.array([0.0, 1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3]])
    return np.clip(raw, 0.0, np.arange(4.0))
