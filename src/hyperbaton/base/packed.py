"""Columns of whole numbers: arrays, or numbers packed into few bits each.

Most packed numbers take the same number of bits; the few larger ones are stored separately (`core/base/numbers_view.hh`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.scratch import Column, Scratch

_HEADER = 3  # words
_LARGEST = 254  # of the numbers in one byte


@dataclass(frozen=True)
class PackedNumbers(Picklable):
    """Packed numbers below 2³², which are read as from an array.

    >>> numbers = PackedNumbers.of(np.array([3, 1, 70, 2]))
    >>> len(numbers), int(numbers[-2]), numbers[1:3].tolist(), numbers[np.array([3, 0])].tolist()
    (4, 70, [1, 70], [2, 3])
    >>> numbers[np.array([True, False, True, False])].tolist()
    [3, 70]
    """

    words: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, numbers: Array) -> Any:
        """Pack numbers; the result takes the place of an array, so it has no other type."""
        return cls(_core.pack_numbers(np.ascontiguousarray(numbers, np.uint32)))

    @classmethod
    def of_pieces(cls, pieces: Iterable[Array], scratch: Scratch | None = None) -> PackedNumbers:
        """Pack mostly small numbers, which need not be in memory at the same time; the result is stored in `scratch`."""
        column = PackedColumn(scratch or Scratch())
        for piece in pieces:
            column.append(piece)
        return column.finish()

    @cached_property
    def core(self) -> _core.Numbers:
        return _core.Numbers(self.words)

    @property
    def header_length(self) -> int:
        """The length as stored; the rest of the header, which may be damaged, is not checked."""
        return int(self.words[0]) if len(self.words) else 0

    def __len__(self) -> int:
        return len(self.core)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            begin, end, step = key.indices(len(self))
            return self.core.slice(begin, max(begin, end)) if step == 1 else self[np.arange(begin, end, step)]
        rows = np.asarray(key)
        if rows.dtype == np.bool_:
            if rows.shape != (len(self),):
                raise IndexError(f"a mask of shape {rows.shape} for {len(self)} numbers")
            rows = np.flatnonzero(rows)
        return self.core.at(rows.astype(np.int64).ravel()).reshape(rows.shape)[()]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)


class PackedColumn:
    """Packed numbers that grow at their end, one byte each but for large ones; on disk if the scratch is."""

    def __init__(self, scratch: Scratch) -> None:
        self._bytes = Column(scratch, np.uint8)
        self._bytes.append(np.zeros(8 * _HEADER, np.uint8))
        self._rows, self._large = Column(scratch, np.uint32), Column(scratch, np.uint32)

    def append(self, numbers: Array) -> None:
        large = np.flatnonzero(numbers > _LARGEST)
        self._rows.append(large + len(self._bytes) - 8 * _HEADER)
        self._large.append(numbers[large])
        self._bytes.append(np.minimum(numbers, _LARGEST + 1))

    def finish(self) -> PackedNumbers:
        """All numbers; nothing can be added afterwards."""
        n, n_large = len(self._bytes) - 8 * _HEADER, len(self._rows)
        for tail in (np.zeros(0, np.uint8), self._rows.finish(), self._large.finish()):
            self._bytes.append(tail.view(np.uint8))
            self._bytes.append(np.zeros(-len(self._bytes) % 8, np.uint8))
        words = self._bytes.finish().view(np.uint64)
        words[:_HEADER] = n, n_large, 8 | 32 << 8 | 32 << 16
        return PackedNumbers(words)


def stored_numbers(array: Array) -> Any:
    """A column as it was stored; words of 64 bits are packed numbers."""
    return PackedNumbers(array) if array.dtype == np.uint64 else array


def stored(numbers: Array | PackedNumbers) -> Array:
    """The array that is stored for a column."""
    return numbers.words if isinstance(numbers, PackedNumbers) else numbers


def core_numbers(numbers: Array | PackedNumbers) -> _core.Numbers:
    """A column for the core."""
    return numbers.core if isinstance(numbers, PackedNumbers) else _core.Numbers(numbers)


def by_frequency(numbers: Integers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """The numbers in use, most frequent first, and the place of each number among them.

    >>> order, places = by_frequency(np.array([4, 2, 2, 0]))
    >>> order.tolist(), places.tolist()
    ([2, 0, 4], [2, 0, 0, 1])
    """
    counts = np.bincount(numbers)
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    places = np.zeros(len(counts), np.uint32)
    places[order] = np.arange(len(order))
    return order, places[numbers]
