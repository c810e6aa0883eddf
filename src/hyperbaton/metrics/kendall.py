"""Kendall's τ of visit orders, as a share: (τ + 1)/2.

100 times the share of pairs of source words that hypothesis and reference visit in the same order; a word that only one of
them visits is put after the word before it in the source (Birch and Osborne 2010). The value of a corpus is the mean of
its sentences of two words or more. Statistics: value, 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.metrics._orders import Agreement, Counts, OrderMetric


@dataclass
class Kendall(OrderMetric):
    """Kendall's τ: the fraction of pairs of source words that are visited in the right order.

    >>> from hyperbaton.metrics import Orders, Outputs
    >>> orders, reference = Orders.of([[1, 0, 2]]), Orders.of([[0, 1, 2]])
    >>> round(Kendall().value(Outputs.of_orders(orders, reference)), 2)
    66.67
    """

    title: ClassVar[str] = "Kendall"

    def counts(self, agreement: Agreement) -> tuple[Counts, Counts]:
        counted = (agreement.n_positions >= 2).astype(np.float64)
        return agreement.kendall * counted, counted
