"""The fuzzy reordering score (Talbot et al. 2011).

FRS = 100 · (1 − (C − 1)/(M − 1)): C is the number of chunks into which the hypothesis' visit order must be cut so that
the chunks can be rearranged into the reference's order of M words; a word that the hypothesis does not visit is also a
cut. Statistics: steps of the reference without a cut, M − 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.metrics._orders import Agreement, Counts, OrderMetric


@dataclass
class FuzzyReordering(OrderMetric):
    """Fuzzy reordering score: how few chunks must be rearranged to get the reference's order.

    >>> from hyperbaton.metrics import Orders, Outputs
    >>> orders, reference = Orders.of([[2, 3, 0, 1]]), Orders.of([[0, 1, 2, 3]])
    >>> round(FuzzyReordering().value(Outputs.of_orders(orders, reference)), 2)
    66.67
    """

    title: ClassVar[str] = "FRS"

    def counts(self, agreement: Agreement) -> tuple[Counts, Counts]:
        return agreement.inner, np.maximum(agreement.n_reference - 1, 0)
