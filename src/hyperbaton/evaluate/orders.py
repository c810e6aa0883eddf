"""Agreement between the order of source words and the order of their translations, by links."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from hyperbaton import _core
from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base.progress import n_threads
from hyperbaton.corpus import Links
from hyperbaton.decode.preordering import Permutations
from hyperbaton.metrics import METRICS, Orders, Outputs


@dataclass(frozen=True)
class OrderQuality:
    """Kendall's τ as the share of pairs in the right order, the fuzzy reordering score (both 0–100), and crossing links.

    Words without links are ignored.
    """

    kendall: float
    fuzzy_reordering: float
    crossings: int  # pairs of links
    crossings_per_sentence: float

    def as_json(self) -> dict[str, float]:
        """Everything as plain values."""
        return asdict(self)

    def row(self) -> dict[str, float]:
        """For a table."""
        return {
            "Kendall": round(self.kendall, 2),
            "FRS": round(self.fuzzy_reordering, 2),
            "crossings": self.crossings,
            "per sentence": round(self.crossings_per_sentence, 2),
        }


def order_quality(orders: Permutations, links: Links, *, threads: int = 0) -> OrderQuality:
    """Compare orders of sentences with the order in which their links visit them.

    >>> from hyperbaton.corpus import Text
    >>> from hyperbaton.decode.preordering import unchanged
    >>> order_quality(unchanged(Text.of(["a b c"])), Links.of([[(0, 1), (1, 2), (2, 0)]])).row()
    {'Kendall': 33.33, 'FRS': 50.0, 'crossings': 2, 'per sentence': 2.0}
    """
    visits = visit_order(links, threads=n_threads(threads))
    outputs = Outputs.of_orders(_orders(orders.only(visits)), _orders(visits))
    reordered = orders.reorder_links(links)
    crossings = _core.count_crossings(reordered.points, reordered.offsets, n_threads(threads))[:, 0]
    return OrderQuality(
        METRICS["kendall"]().value(outputs),
        METRICS["fuzzy_reordering"]().value(outputs),
        int(crossings.sum()),
        float(crossings.mean()) if len(crossings) else 0.0,
    )


def _orders(visits: VisitOrders) -> Orders:
    return Orders(visits.positions, visits.offsets)
