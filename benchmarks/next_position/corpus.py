"""The corpus on the command line, and the order in which its source words are translated."""

from __future__ import annotations

import argparse

import numpy as np

from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.corpus import Bitext, Tags


def read(arguments: argparse.Namespace, size: int = 0) -> tuple[Bitext, Tags | None, VisitOrders]:
    """The first `size` sentence pairs of the corpus on the command line."""
    bitext = Bitext.read(*arguments.files)
    tags = None if arguments.tags is None else Tags.read(arguments.tags, bitext.source)
    chosen = np.arange(min(size or arguments.size or len(bitext), len(bitext)))
    bitext, tags = bitext.select(chosen), None if tags is None else tags.select(chosen)
    return bitext, tags, visit_order(bitext.need_links())
