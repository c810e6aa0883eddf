"""Counts of orientation classes of phrases or phrase pairs, by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Integers
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.forms import Layout
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.phrases.occurrences import Keys

Labels = Integers
_PIECE = 1 << 20
# Memory for numbering, per key, if all are distinct.
_BYTES = 192


class _NumberedKeys(NamedTuple):
    """The keys in a range of values."""

    where: slice | npt.NDArray[np.int64]
    keys: Keys  # distinct and increasing
    first: npt.NDArray[np.int64]  # first occurrence of each
    numbers: npt.NDArray[np.uint32]  # of each key of the range, by position

    def counts(self, labels: Labels, n_classes: int) -> npt.NDArray[np.uint32]:
        """Counts of labels by key, (n_keys, n_classes)."""
        chosen = labels[self.where]
        counts = np.empty((len(self.keys), n_classes), np.uint32)
        for label in range(n_classes):
            counts[:, label] = np.bincount(self.numbers[chosen == label], minlength=len(self.keys))
        return counts


def _numbered(keys: Keys, scratch: Scratch) -> Iterator[_NumberedKeys]:
    """All keys, in ranges of values that fit into memory; keys are hashes, so the ranges are of about equal size."""
    n_parts = -(-len(keys) // (scratch.n_rows(_BYTES) or max(len(keys), 1)))
    if n_parts <= 1:
        distinct, first, numbers = _core.number_keys(keys)
        yield _NumberedKeys(slice(None), distinct, first, numbers)
        return
    edges = [np.uint64((part << 64) // n_parts) for part in range(n_parts)]
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        pieces = []
        for rows in scratch.rows(len(keys), row_bytes=16):
            piece = keys[rows]
            inside = (piece >= low) if high is None else (piece >= low) & (piece < high)
            pieces.append(rows.start + np.flatnonzero(inside))
        where = np.concatenate(pieces)
        distinct, first, numbers = _core.number_keys(np.asarray(keys[where]))
        yield _NumberedKeys(where, distinct, where[first], numbers)


@dataclass(frozen=True)
class ClassCounts(ArrayFields):
    """Counts of classes by key: row i of `counts` (n_keys, n_classes) belongs to `keys[i]`, increasing.

    >>> counts = ClassCounts.of(np.array([7, 5, 7], np.uint64), np.array([0, 1, 1]), n_classes=2)
    >>> counts.at(np.array([7, 6], np.uint64)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """

    keys: Keys
    counts: npt.NDArray[np.uint32]

    LAYOUT: ClassVar[Layout] = {"keys": "u8 n", "counts": "u4 n n_classes"}

    @classmethod
    def of(cls, keys: Keys, labels: Labels, n_classes: int, scratch: Scratch | None = None) -> ClassCounts:
        """Count labels by key, in any order; the counts are stored in `scratch`."""
        scratch = scratch or Scratch()
        distinct, counts = Column(scratch, np.uint64), Column(scratch, np.uint32)
        for part in _numbered(keys, scratch):
            distinct.append(part.keys)
            counts.append(part.counts(labels, n_classes))
        return cls(distinct.finish(), counts.finish())

    @classmethod
    def numbered(
        cls, keys: Keys, labels: Labels, n_classes: int, scratch: Scratch
    ) -> tuple[ClassCounts, npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """Count labels by key; also return where each key occurs first, and the row of each given key."""
        distinct, counts, first = (Column(scratch, dtype) for dtype in (np.uint64, np.uint32, np.int64))
        numbers = scratch.array(len(keys), np.uint32)
        for part in _numbered(keys, scratch):
            numbers[part.where] = part.numbers + np.uint32(len(distinct))
            distinct.append(part.keys)
            counts.append(part.counts(labels, n_classes))
            first.append(part.first)
        return cls(distinct.finish(), counts.finish()), first.finish(), numbers

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The row of each key, -1 if it has none."""
        if len(self.keys) == 0:
            return np.full(len(keys), -1)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[rows] == keys, rows, -1)

    def at(self, keys: Keys) -> npt.NDArray[np.float64]:
        """The counts of each key, zeros if it has none; shape (n, n_classes)."""
        rows = self.find(keys)
        counts = np.zeros((len(keys), self.counts.shape[1]))
        counts[rows >= 0] = self.counts[rows[rows >= 0]]
        return counts

    @property
    def totals(self) -> npt.NDArray[np.int64]:
        """Counts of each key over all classes."""
        return self.counts.sum(axis=1, dtype=np.int64)


def class_frequencies(labels: Labels, n_classes: int) -> npt.NDArray[np.int64]:
    """The number of labels of each class.

    >>> class_frequencies(np.array([2, 0, 2], np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    # In pieces, since bincount makes a copy with 64 bits per label.
    pieces = (labels[at : at + _PIECE] for at in range(0, len(labels), _PIECE))
    return sum((np.bincount(piece, minlength=n_classes) for piece in pieces), np.zeros(n_classes, np.int64))


def smooth(counts: npt.NDArray[np.float64], smoothing: float, towards: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probabilities (counts + s·K·q) / (total + s·K) of K classes, with q the distribution `towards`.

    >>> smooth(np.array([[2.0, 0.0]]), 0.5, np.array([0.5, 0.5])).round(3).tolist()
    [[0.833, 0.167]]
    """
    mass = smoothing * counts.shape[-1]
    return (counts + mass * towards) / (counts.sum(axis=-1, keepdims=True) + mass)
