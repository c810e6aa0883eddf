"""The n-grams of an estimated model, before lookup tables are built; enough for an ARPA file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import n_threads
from hyperbaton.corpus.files import AnyPath, write_pieces
from hyperbaton.corpus.text import Vocabulary
from hyperbaton.lm.rows import Rows

Columns = tuple[Rows, npt.NDArray[np.float32], npt.NDArray[np.float32]]  # words oldest first, log10 p, log10 back-off


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
            return _core.build_tree_tables(self.orders, n_threads=threads, progress=None)
        n_words = len(self.vocabulary)
        return _core.build_ngram_tables(self.orders, n_words=n_words, n_threads=threads, progress=None)

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
    writer = _core.ArpaWriter(source, vocabulary.bytes, vocabulary.offsets, n_threads(threads))
    while piece := writer.next():
        yield piece
