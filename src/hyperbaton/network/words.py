"""Rows of embeddings for words, and helpers that do not need PyTorch."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import MissingExtra

# Rows of the embeddings before those of words and labels: unknown, start and end of sentence.
UNKNOWN, FIRST = 0, 3


def frequent_rows(tokens: Array, n_words: int, most: int, min_count: int) -> Array:
    """Assign embedding rows: special rows first, then the most frequent words; all others share the unknown row.

    >>> frequent_rows(np.array([2, 0, 2, 0, 2, 1]), 4, most=2, min_count=2).tolist()
    [3, 0, 4, 0]
    """
    counts = np.bincount(tokens, minlength=n_words)[:n_words]
    frequent = np.argsort(-counts, kind="stable")[:most]
    frequent = np.sort(frequent[counts[frequent] >= min_count])
    rows = np.zeros(n_words, np.int32)
    rows[frequent] = FIRST + np.arange(len(frequent), dtype=np.int32)
    return rows


def rows_of(rows: Array, tokens: Array) -> Array:
    """The row of each word; words of other texts are unknown."""
    return np.append(rows, UNKNOWN)[np.minimum(tokens, len(rows))].astype(np.int32)


class NeedsTorch:
    """Base of plug-ins that are trained with PyTorch."""


def check_installed(plugin: type) -> None:
    """Say what to install if a plug-in needs PyTorch and it is missing, without importing it."""
    if issubclass(plugin, NeedsTorch) and find_spec("torch") is None:
        raise MissingExtra("PyTorch", "torch")
