"""Count, sort and merge rows of n-grams: runs that fit into memory are sorted, and sorted runs are merged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.scratch import Scratch

Rows = npt.NDArray[np.uint32]  # (n, order + 2): words, newest first, and two numbers


@dataclass(frozen=True)
class RowSorter:
    """Counts and sorts rows in `memory` bytes; results are stored in `scratch`."""

    memory: int
    scratch: Scratch
    n_threads: int

    def count(self, tokens: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], order: int) -> Rows:
        """The n-grams of the highest order, by suffix."""
        n_sentences = len(offsets) - 1
        ends = offsets + np.arange(n_sentences + 1)  # rows before each sentence
        cuts = np.searchsorted(ends, np.arange(0, ends[-1], self.run_length(order + 2)), side="left").tolist()
        blocks = [(a, b) for a, b in pairwise([*cuts, n_sentences]) if a < b]
        runs = [
            self.scratch.keep(
                _core.count_ngrams(tokens, offsets, begin=a, end=b, order=order, n_threads=self.n_threads, progress=None)
            )
            for a, b in blocks
        ]
        return self.merge(runs, by_context=False) if runs else np.empty((0, order + 2), np.uint32)

    def sort(self, rows: Rows, by_context: bool) -> Rows:
        """Return the rows, sorted; the given array is overwritten."""
        length = self.run_length(rows.shape[1])
        runs = [rows[at : at + length] for at in range(0, len(rows), length)]
        for run in runs:
            _core.sort_ngrams(run, by_context=by_context, n_threads=self.n_threads, progress=None)
        return self.merge(runs, by_context) if runs else rows

    def merge(self, runs: list[Rows], by_context: bool) -> Rows:
        """The rows of sorted runs, sorted; counts of the same words are added up."""
        if len(runs) == 1:
            return runs[0]
        out: Rows = self.scratch.array((sum(map(len, runs)), runs[0].shape[1]), np.uint32)
        return out[: _core.merge_ngrams(runs, out, by_context=by_context)]

    def run_length(self, width: int) -> int:
        """Number of rows to sort at once; sorting needs memory for two copies."""
        return max(1, self.memory // (3 * 4 * width))
