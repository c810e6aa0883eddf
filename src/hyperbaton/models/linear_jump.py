"""LINEAR per jump: the nearer to the monotone next word, the likelier, independent of the words.

    P(j | i) = exp(−α |j − i − 1|) / Z                                     over all positions j ≠ i of the sentence

α is the maximum likelihood estimate: Z depends only on the numbers of words before and after the current position, and is
a sum of two geometric series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, ranges
from hyperbaton.models.shapes.base import DistanceModel
from hyperbaton.models.shapes.next_position import JumpTraining, NextPositionModel, TaggedSentences

LARGEST = 20.0  # if nothing moves, α would be infinite


@dataclass(eq=False)
class LinearJump(DistanceModel, NextPositionModel):
    """Distance to the monotone next word, independent of the words (LINEAR); always expects monotone order."""

    def _fit(self, training: JumpTraining) -> None:
        jumps = training.visits.jumps(training.source.text.lengths)
        total = float(np.abs(jumps.next - jumps.current - 1).sum())
        behind = training.source.text.lengths[jumps.sentence] - 1 - jumps.current
        places, counts = np.unique(np.stack([jumps.current, behind]), axis=1, return_counts=True)

        def loss(alpha: float) -> float:
            return alpha * total + float(np.sum(counts * numeric.log(_normaliser(alpha, places[0], places[1]))))

        minimum = optimize.minimize_scalar(loss, bounds=(1e-6, LARGEST), method="bounded", options={"xatol": 1e-8})
        self.alpha_ = self.alpha or float(minimum.x)

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        lengths = source.text.lengths
        cp = ranges(-1, lengths + 1)  # of each row
        n = np.repeat(lengths, lengths + 1)
        np_ = ranges(0, n + 1)
        distance = np.abs(np_ - np.repeat(cp, n + 1) - 1)
        values: npt.NDArray[np.float64] = -self.alpha_ * distance - np.repeat(
            numeric.log(_normaliser(self.alpha_, cp, n - 1 - cp)), n + 1
        )
        values[np_ == np.repeat(cp, n + 1)] = -np.inf
        return values


def _normaliser(alpha: float, current: Array, behind: Array) -> Array:
    """Σ exp(−α |j − i − 1|) for a CP with `behind` words after it: distances 0 … `behind` forward to EOS, 2 … i + 1 back.

    >>> q = np.exp(-0.5)
    >>> bool(np.isclose(_normaliser(0.5, np.array([2]), np.array([1])), 1 + q + q**2 + q**3))
    True
    """
    q = numeric.exp(-alpha)
    forward = (1 - numeric.exp(-alpha * (behind + 1))) / (1 - q)
    back = np.where(current > 0, q * q * (1 - numeric.exp(-alpha * np.maximum(current, 0))) / (1 - q), 0.0)
    return forward + back
