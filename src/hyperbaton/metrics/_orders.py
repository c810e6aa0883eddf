"""Metrics that use only visit orders, and their counts, computed by the core."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import default_threads
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Orders, Outputs

Counts = npt.NDArray[np.float64]


class Agreement(NamedTuple):
    """How orders agree with a reference, one value for each hypothesis.

    Steps are those of the reference that the hypothesis makes too: `steps` with the first one from the sentence start,
    `inner` without. The others compare permutations of the positions that either visits: a position
    that one does not visit is put right after the one before it in the source.
    """

    n_reference: Counts
    steps: Counts
    inner: Counts
    n_positions: Counts
    discordant: Counts
    displaced: Counts

    @property
    def kendall(self) -> Counts:
        """The share of pairs in the same order; 1 where there is no pair."""
        return 1 - self.discordant / np.maximum(self.n_positions * (self.n_positions - 1) / 2, 1)

    @property
    def hamming(self) -> Counts:
        """The share of positions in the same place; 1 where there are none."""
        return 1 - self.displaced / np.maximum(self.n_positions, 1)


def agreement(orders: Orders, reference: Orders, line: npt.NDArray[np.int64]) -> Agreement:
    """Compare each order h with that of line `line[h]` of a reference."""
    counts = _core.compare_orders(
        positions=orders.positions,
        offsets=orders.offsets,
        reference_positions=reference.positions,
        reference_offsets=reference.offsets,
        line=line,
        n_threads=default_threads(),
    )
    return Agreement(*counts.T.astype(np.float64))


@dataclass
class OrderMetric(Metric):
    """100 · part / whole, with the best reference for each sentence."""

    needs_orders: ClassVar[bool] = True

    @abstractmethod
    def counts(self, agreement: Agreement) -> tuple[Counts, Counts]:
        """The number correct and the total in each sentence."""

    def statistics(self, outputs: Outputs) -> Statistics:
        orders = self.need_orders(outputs)
        agreements = [agreement(orders, reference, outputs.line) for reference in outputs.reference_orders]
        return self.best_reference([np.column_stack(self.counts(one)) for one in agreements])

    def score(self, sums: Statistics) -> Values:
        return 100 * ratio(sums[..., 0], sums[..., 1], nothing=1.0)
