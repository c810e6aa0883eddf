"""Smoothing of phrase probabilities p(target|source) and p(source|target) from pair counts.

A smoothing is one file in `phrases/smoothings/`, found by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array
from hyperbaton.base.packed import PackedNumbers
from hyperbaton.base.registry import Registry
from hyperbaton.base.scratch import Scratch
from hyperbaton.phrases.pair_values import Owners

Doubles = npt.NDArray[np.float64]

# Memory for smoothing, per pair.
_BYTES = 100


@dataclass(frozen=True)
class PairCounts:
    """Joint counts of phrase pairs, and the numbers of the given and the predicted phrase of each pair.

    There may be more pairs than fit into memory, so they are processed in pieces, `rows`.
    """

    joint: npt.NDArray[np.uint32] | PackedNumbers
    given: npt.NDArray[np.uint32] | Owners
    predicted: npt.NDArray[np.uint32] | Owners
    n_given: int
    n_predicted: int
    scratch: Scratch = field(default_factory=Scratch)

    def reversed(self) -> PairCounts:
        """The counts with given and predicted phrases exchanged."""
        return PairCounts(self.joint, self.predicted, self.given, self.n_predicted, self.n_given, self.scratch)

    def rows(self) -> Iterator[slice]:
        return self.scratch.rows(len(self.joint), _BYTES)

    @cached_property
    def given_totals(self) -> Doubles:
        """Summed counts of the given phrases."""
        return self.sums_by_given(lambda joint: joint)

    def sums_by_given(self, weight: Callable[[npt.NDArray[np.uint32]], Array]) -> Doubles:
        """Sums of a weight, which depends on the joint count, over the pairs of each given phrase."""
        sums: Doubles = self.scratch.zeros(self.n_given, np.float64)
        for rows in self.rows():
            np.add.at(sums, self.given[rows], weight(self.joint[rows]).astype(np.float64))
        return sums

    def count_of_counts(self, highest: int) -> Doubles:
        """The numbers of pairs seen once, twice, …, `highest` times; entry 0 is unused."""
        counts = np.zeros(highest + 2, np.int64)
        for rows in self.rows():
            counts += np.bincount(np.minimum(self.joint[rows], highest + 1), minlength=highest + 2)
        return counts[: highest + 1].astype(float)


class Smoothing(ABC):
    """Estimates p(predicted|given) for every pair.

    `is_relative_frequency`: whether it is c(given, predicted) / c(given), which is not stored.
    """

    is_relative_frequency: ClassVar[bool] = False

    @abstractmethod
    def probabilities(self, counts: PairCounts) -> Iterator[Doubles]:
        """The probability of each pair, in the pieces of `counts.rows()`."""


SMOOTHINGS: Registry[Smoothing] = Registry("smoothing", "hyperbaton.phrases.smoothings", Smoothing)
