"""A metric that uses only visit orders."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._orders import Agreement, Counts, agreement
from hyperbaton.metrics._outputs import Outputs


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
