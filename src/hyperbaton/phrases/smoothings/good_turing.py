"""Good-Turing smoothing: a pair seen r times counts as (r + 1) n(r + 1) / n(r), n(r) being how many were seen r times.

Low counts are discounted (Foster et al. 2006), up to `HIGHEST`; beyond it counts are trusted. The total stays that of the
true counts, so a phrase's probabilities sum to less than one, the rest being for pairs never seen.
"""

import numpy as np

from hyperbaton.phrases.smoothing import Doubles, PairCounts, Smoothing

HIGHEST = 10


class GoodTuring(Smoothing):
    """Counts r up to 10 become (r + 1) n(r + 1) / n(r): rare pairs weigh less."""

    def probabilities(self, counts: PairCounts) -> Doubles:
        n = counts.count_of_counts(HIGHEST + 1)
        adjusted = np.arange(HIGHEST + 2, dtype=float)
        for r in range(1, HIGHEST + 1):
            # With few pairs an adjusted count can leave its bounds: it must not exceed r nor fall below r - 1.
            if n[r] > 0 and n[r + 1] > 0:
                adjusted[r] = min(max((r + 1) * n[r + 1] / n[r], adjusted[r - 1]), r)
        low = counts.joint <= HIGHEST
        weights = np.where(low, adjusted[np.minimum(counts.joint, HIGHEST)], counts.joint)
        weights = np.maximum(weights, 1e-3)
        return weights / counts.given_totals()[counts.given]
