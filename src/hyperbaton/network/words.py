"""Rows of embeddings for words, and helpers that do not need PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import import_failure

# Rows of the embeddings before those of words and labels: unknown, start and end of sentence.
UNKNOWN, FIRST = 0, 3


def frequent_rows(tokens: Array, n_words: int, most: int, min_count: int) -> Array:
    """A row for each of `n_words` words: the most frequent words follow the special rows, and others are unknown.

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
    known = tokens < len(rows)
    return np.where(known, rows[np.minimum(tokens, len(rows) - 1)], UNKNOWN).astype(np.int32)


@contextmanager
def needing_torch() -> Iterator[None]:
    """Wrap imports that need PyTorch: say what to install if it is missing."""
    try:
        yield
    except ImportError as error:
        raise import_failure(error, "PyTorch", "torch", "torch") from None
