"""Smoothing of phrase probabilities p(target|source) and p(source|target) from pair counts.

A smoothing is one file in `phrases/smoothings/`, found by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.base.registry import Registry

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairCounts:
    """Joint counts of phrase pairs and, for each pair, the numbers of its given and its predicted phrase."""

    joint: npt.NDArray[np.uint32]
    given: npt.NDArray[np.uint32]
    predicted: npt.NDArray[np.uint32]
    n_given: int
    n_predicted: int

    def given_totals(self) -> Doubles:
        """Summed counts of the given phrases."""
        return np.bincount(self.given, self.joint, self.n_given).astype(np.float64)

    def count_of_counts(self, highest: int) -> Doubles:
        """How many pairs were seen once, twice, …, `highest` times; entry 0 is unused."""
        return np.bincount(np.minimum(self.joint, highest + 1), minlength=highest + 2)[: highest + 1].astype(float)


class Smoothing(ABC):
    """Estimates p(predicted|given) for every pair."""

    @abstractmethod
    def probabilities(self, counts: PairCounts) -> Doubles:
        """The probability of each pair."""


SMOOTHINGS: Registry[Smoothing] = Registry("smoothing", "hyperbaton.phrases.smoothings", Smoothing)
