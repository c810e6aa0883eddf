"""A corpus as numbers, for a machine without the package: words, tags and visit orders."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.corpus import Bitext, Tags, Text


def read(arguments: argparse.Namespace, size: int = 0) -> tuple[Bitext, Tags | None, VisitOrders]:
    """The first `size` sentence pairs of the corpus on the command line."""
    bitext = Bitext.read(*arguments.files)
    tags = None if arguments.tags is None else Tags.read(arguments.tags, bitext.source)
    chosen = np.arange(min(size or arguments.size or len(bitext), len(bitext)))
    bitext, tags = bitext.select(chosen), None if tags is None else tags.select(chosen)
    return bitext, tags, visit_order(bitext.need_links())


def columns(source: Text, tags: Text | None, visits: VisitOrders, prefix: str = "") -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "tokens": source.tokens,
        "lengths": source.lengths.astype(np.uint16),
        "visits": visits.positions,
        "n_visits": np.diff(visits.offsets).astype(np.uint16),
    }
    if tags is not None:
        arrays["tags"] = tags.tokens
    return {prefix + name: array for name, array in arrays.items()}


def run(arguments: argparse.Namespace) -> None:
    bitext, tags, visits = read(arguments)
    labels = None if tags is None else _labels(tags)
    arrays = columns(bitext.source, labels, visits)
    if arguments.test:
        test = Bitext.read(*arguments.test)
        known = None if labels is None else _labels(Tags.read(arguments.test_tags, test.source)).over(labels.vocabulary)
        source = test.source.over(bitext.source.vocabulary)
        arrays |= columns(source, known, visit_order(test.need_links()), "test_")
    np.savez_compressed(arguments.output, **arrays)
    print(f"{len(bitext)} sentences, {arguments.output.stat().st_size / 2**20:.1f} MiB")


def _labels(tags: Tags) -> Text:
    return Text(tags.labels.astype(np.uint32), tags.offsets, tags.vocabulary)
