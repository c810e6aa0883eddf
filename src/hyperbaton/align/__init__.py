"""Word alignment: the aligner, other people's links, symmetrisation, and how good links are."""

from hyperbaton.align.aligners.hmm import Aligner, Posteriors
from hyperbaton.align.base import ALIGNERS, WordAligner, align
from hyperbaton.align.evaluation import LinkScores, evaluate_links
from hyperbaton.align.lexical import LexicalTable
from hyperbaton.align.reading import read_links
from hyperbaton.align.symmetrization import symmetrize
from hyperbaton.align.visits import Jumps, VisitOrders, visit_order

__all__ = [
    "ALIGNERS",
    "Aligner",
    "Jumps",
    "LexicalTable",
    "LinkScores",
    "Posteriors",
    "VisitOrders",
    "WordAligner",
    "align",
    "evaluate_links",
    "read_links",
    "symmetrize",
    "visit_order",
]
