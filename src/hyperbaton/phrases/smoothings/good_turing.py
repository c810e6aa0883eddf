"""Good-Turing smoothing: a pair seen r times counts as (r + 1) n(r + 1) / n(r), with n(r) pairs seen r times.

Low counts are discounted (Foster et al. 2006), up to `HIGHEST`; beyond it counts are trusted. The total remains that of
the true counts, so a phrase's probabilities sum to less than one; the rest is for unseen pairs.
"""

from collections.abc import Iterator

import numpy as np

from hyperbaton.phrases.smoothing import Doubles, PairCounts, Smoothing

HIGHEST = 10


class GoodTuring(Smoothing):
    """Counts r up to 10 become (r + 1) n(r + 1) / n(r): rare pairs weigh less."""

    def probabilities(self, counts: PairCounts) -> Iterator[Doubles]:
        n = counts.count_of_counts(HIGHEST + 1)
        adjusted = np.arange(HIGHEST + 2, dtype=float)
        for r in range(1, HIGHEST + 1):
            # With few pairs an adjusted count can leave its bounds: it must not exceed r nor fall below r - 1.
            if n[r] > 0 and n[r + 1] > 0:
                adjusted[r] = min(max((r + 1) * n[r + 1] / n[r], adjusted[r - 1]), r)
        for rows in counts.rows():
            joint = counts.joint[rows]
            weights = np.where(joint <= HIGHEST, adjusted[np.minimum(joint, HIGHEST)], joint)
            yield np.maximum(weights, 1e-3) / counts.given_totals[counts.given[rows]]
