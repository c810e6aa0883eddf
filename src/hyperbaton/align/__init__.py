"""Word alignment: the aligner, other people's links, symmetrisation, and how good links are."""

from hyperbaton.align.evaluation import LinkScores, evaluate_links
from hyperbaton.align.reading import read_links
from hyperbaton.align.symmetrization import symmetrize
from hyperbaton.align.visits import VisitOrders, visit_order

__all__ = ["LinkScores", "VisitOrders", "evaluate_links", "read_links", "symmetrize", "visit_order"]
