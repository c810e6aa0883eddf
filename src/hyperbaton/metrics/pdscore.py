"""PDscore, the pair-wise distortion score (XI11 eq. 8).

PDscore = 100 · 1/n Σ_i [h_i = r_j and h_i−1 = r_j−1]: the share of steps of the reference's visit order r_1 … r_n that the
hypothesis' visit order h makes too. Both start at the sentence start, which counts as r_0 and h_0; n is the length of the
reference's order. Statistics: common steps, n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.metrics._orders import Agreement, Counts, OrderMetric


@dataclass
class PdScore(OrderMetric):
    """PDscore: the fraction of the reference's steps between source words that the translation makes too.

    >>> from hyperbaton.metrics import Orders, Outputs
    >>> orders, reference = Orders.of([[0, 2, 3, 1]]), Orders.of([[0, 1, 2, 3]])
    >>> PdScore().value(Outputs.of_orders(orders, reference))
    50.0
    """

    title: ClassVar[str] = "PDscore"

    def counts(self, agreement: Agreement) -> tuple[Counts, Counts]:
        return agreement.steps, agreement.n_reference
