"""Rows of n-grams, which are counted, sorted and merged, and the n-grams of an estimated model, enough for an ARPA file.

Runs of rows that fit into memory are sorted, and sorted runs are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import n_threads
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus.files import AnyPath, write_pieces
from hyperbaton.corpus.text import Vocabulary

Rows = npt.NDArray[np.uint32]  # (n, order + 2): words, newest first, and two numbers
Columns = tuple[Rows, npt.NDArray[np.float32], npt.NDArray[np.float32]]  # words oldest first, log10 p, log10 back-off


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
        counted = (
            _core.count_ngrams(tokens, offsets, begin=a, end=b, order=order, n_threads=self.n_threads) for a, b in blocks
        )
        runs = [self.scratch.join([rows], np.uint32) for rows in counted]
        return self.merge(runs, by_context=False) if runs else np.empty((0, order + 2), np.uint32)

    def sort(self, rows: Rows, by_context: bool) -> Rows:
        """Return the rows, sorted; the given array is overwritten."""
        length = self.run_length(rows.shape[1])
        runs = [rows[at : at + length] for at in range(0, len(rows), length)]
        for run in runs:
            _core.sort_ngrams(run, by_context=by_context, n_threads=self.n_threads)
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


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of each order: linked if they were estimated in memory, otherwise columns, which may be files."""

    vocabulary: Vocabulary
    orders: _core.NgramTree | list[Columns]

    @property
    def n_ngrams(self) -> list[int]:
        """The number of n-grams of each order."""
        if isinstance(self.orders, _core.NgramTree):
            return self.orders.count_ngrams()
        return [len(words) for words, _, _ in self.orders]

    def tables(self, threads: int | None = None) -> list[npt.NDArray[np.uint8]]:
        """The slots of each order, for a `LanguageModel`."""
        threads = n_threads(threads)
        if isinstance(self.orders, _core.NgramTree):
            return _core.build_tree_tables(self.orders, n_threads=threads)
        n_words = len(self.vocabulary)
        return _core.build_ngram_tables(self.orders, n_words=n_words, n_threads=threads)

    def arpa_pieces(self, threads: int | None = None) -> Iterator[bytes]:
        """The model in the ARPA format, as `LanguageModel` writes it."""
        if isinstance(self.orders, _core.NgramTree):
            return arpa_pieces(self.orders, self.vocabulary, threads)
        none = np.empty(0, np.float32)
        model = _core.NgramModel(tuple((slots, none, none) for slots in self.tables(threads)))
        return arpa_pieces(model, self.vocabulary, threads)

    def write_arpa(self, path: AnyPath, threads: int | None = None) -> None:
        """Write the model in the ARPA format, compressed according to the file name."""
        write_pieces(path, self.arpa_pieces(threads))


def arpa_pieces(
    source: _core.NgramModel | _core.NgramTree, vocabulary: Vocabulary, threads: int | None = None
) -> Iterator[bytes]:
    """A model in the ARPA format, in pieces; n-grams are sorted by word number."""
    writer = _core.ArpaWriter(source, vocabulary.spelling, n_threads(threads))
    while piece := writer.next():
        yield piece
