"""The scale of weights, and their mean.

Only ratios of weights matter to a decoder, so weights are scaled to the sum of absolute values of the initial ones before
they are averaged; otherwise large weights would count more than small ones. Each tuning run, and each late iteration of a
run, ends at a different edge of the region where the metric is high. Their mean lies inside that region, and depends less
on the seed than any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.tune.nbest import Floats

_VANISHED = 1e-12  # weights whose sum is below this fraction of the initial ones' have vanished
_LARGEST = 1000.0  # times the size of the initial weights: beyond this, a fixed weight is as good as 0


@dataclass(frozen=True)
class Scale:
    """The scale of weights: their sum of absolute values stays that of the initial ones, unless fixed weights set it.

    If a weight is fixed at anything but 0, the optimizer must find the size of the others, within bounds: it would grow
    without limit if the fixed weight does harm. Only the first `n_dense` weights count; the rest belong to sparse
    features.
    """

    start: Floats
    fixed: npt.NDArray[np.bool_]
    n_dense: int

    def applied(self, weights: Floats) -> Floats | None:
        """Weights at the right scale, None if they vanish."""
        weights, n = np.where(self.fixed, self.start, weights), self.n_dense
        size, total = np.abs(self.start[:n]).sum(), np.abs(weights[:n]).sum()
        if self.start[self.fixed].any():
            return np.where(self.fixed, weights, weights * min(1.0, _LARGEST * size / max(total, _VANISHED)))
        return weights * (size / total) if total > _VANISHED * size else None

    def mean(self, weights: Sequence[Floats]) -> Floats | None:
        """The mean of weights that are first scaled to the same size, None if it vanishes.

        >>> scale = Scale(np.array([1.0, 1.0]), np.zeros(2, bool), 2)
        >>> scale.mean([np.array([1.0, 3.0]), np.array([30.0, 10.0])]).tolist()
        [1.0, 1.0]
        """
        alike = [scaled for scaled in map(self.applied, weights) if scaled is not None]
        return self.applied(np.mean(alike, axis=0)) if alike else None
