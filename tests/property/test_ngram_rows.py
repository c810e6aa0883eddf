"""Rows of n-grams of every order are sorted and merged as plain Python sorts and merges tuples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hyperbaton import _core

N_ROWS = 150_000  # more than one thread sorts at once


def random_rows(order: int, n: int, seed: int) -> np.ndarray:
    """Rows with counts of 1 whose words repeat often: (n, order + 2)."""
    rows = np.random.default_rng(seed).integers(0, 30 if order < 4 else 5, (n, order + 2)).astype(np.uint32)
    rows[:, -2:] = (1, 0)
    return rows


@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize("order", range(1, 10))
def test_sorted_rows(order: int, by_context: bool) -> None:
    rows = random_rows(order, N_ROWS, order)
    rows[:, -2] = np.arange(N_ROWS) % 1000  # a row keeps its count
    columns = [*range(1, order), 0] if by_context else [*range(order)]
    expected = rows[np.lexsort([rows[:, -2], *(rows[:, c] for c in reversed(columns))])]
    _core.sort_ngrams(rows, by_context=by_context, n_threads=2)
    assert np.array_equal(rows[:, :order], expected[:, :order])
    in_order = np.lexsort([rows[:, -2], *(rows[:, c] for c in reversed(columns))])
    assert np.array_equal(rows[in_order], expected)


@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize("order", [1, 3, 6, 9])
def test_merged_rows(order: int, by_context: bool) -> None:
    runs = [random_rows(order, n, n) for n in (0, 300, 500, 1)]
    counts = Counter(tuple(row[:order]) for run in runs for row in run.tolist())
    for run in runs:
        _core.sort_ngrams(run, by_context=by_context, n_threads=1)
    out = np.empty((801, order + 2), np.uint32)
    merged = out[: _core.merge_ngrams(runs, out, by_context=by_context)].tolist()
    assert [(tuple(row[:order]), row[order]) for row in merged] == sorted(
        counts.items(), key=lambda item: (item[0][1:], item[0][0]) if by_context else item[0]
    )
