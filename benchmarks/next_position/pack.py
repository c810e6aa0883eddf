"""A corpus as numbers, for a machine without the package: words, tags and visit orders."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.corpus import Bitext, Tags


def read(arguments: argparse.Namespace, size: int = 0) -> tuple[Bitext, Tags | None, VisitOrders]:
    """The corpus of the command line, its first `size` sentence pairs."""
    bitext = Bitext.read(*arguments.files)
    tags = None if arguments.tags is None else Tags.read(arguments.tags, bitext.source)
    chosen = np.arange(min(size or arguments.size or len(bitext), len(bitext)))
    bitext, tags = bitext.select(chosen), None if tags is None else tags.select(chosen)
    return bitext, tags, visit_order(bitext.need_links())


def run(arguments: argparse.Namespace) -> None:
    bitext, tags, visits = read(arguments)
    arrays: dict[str, Any] = {
        "tokens": bitext.source.tokens,
        "lengths": bitext.source.lengths.astype(np.uint16),
        "visits": visits.positions,
        "n_visits": np.diff(visits.offsets).astype(np.uint16),
    }
    if tags is not None:
        arrays["tags"] = tags.labels
    np.savez_compressed(arguments.output, **arrays)
    print(f"{len(bitext)} sentences, {arguments.output.stat().st_size / 2**20:.1f} MiB")
