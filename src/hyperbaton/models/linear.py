"""The word distance model (WDR): the cost of a movement grows with its distance, independent of the words.

    h(d) = −α |d|                                                                     NI11 §1.1, eq. 1

As a distribution over distances this is p(d) = (1 − q) / (1 + q) · q^|d| with q = exp(−α); the maximum likelihood α
satisfies E|d| = 2q / (1 − q²). A class is scored by the nearest of its distances, p(o) ∝ exp(−α min |d|).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.models.shapes.base import DistanceModel
from hyperbaton.models.shapes.orientation import LogProbs, OrientationModel, TrainingSamples
from hyperbaton.phrases import DistanceSet, Occurrences


@dataclass(eq=False)
class Linear(DistanceModel, OrientationModel):
    """Word distance: −α |d|, independent of the words (WDR); always expects monotone order."""

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.set, DistanceSet):
            raise OptionError(f"the linear model needs distance classes (three, five, -4,0,1,5), not {self.orientations}")

    def _fit(self, training: TrainingSamples) -> None:
        pieces = training.resources.scratch.rows(len(training.distances), row_bytes=16)
        total = sum(int(np.abs(training.distances[rows].astype(np.int64)).sum()) for rows in pieces)
        mean = total / len(training.distances)
        # If nothing moves, α would be infinite.
        self.alpha_ = self.alpha or min(-float(numeric.log(_ratio(mean))), 20.0)

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        cuts = cast(DistanceSet, self.set).cuts
        # The smallest |d| of each class: its last distance left of 0, or its first one right of it.
        nearest = [max(0, low, 1 - high) for low, high in pairwise((-np.inf, *cuts, np.inf))]
        return np.tile(numeric.log_softmax(-self.alpha_ * np.array([nearest])), (len(occurrences), 1))


def _ratio(mean: float) -> float:
    """q with 2q / (1 − q²) = mean.

    >>> q = _ratio(1.5)
    >>> round(2 * q / (1 - q**2), 9)
    1.5
    """
    return float((np.sqrt(1 + mean * mean) - 1) / mean) if mean > 0 else float(numeric.exp(-20.0))
