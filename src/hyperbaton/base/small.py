"""Arrays of mostly small whole numbers, such as counts: one byte each, with larger numbers stored separately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.errors import DamagedError
from hyperbaton.base.forms import Layout
from hyperbaton.base.packed import PackedNumbers, core_numbers
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import check_numbers

_LARGEST = 255  # that fits in one byte


@dataclass(frozen=True)
class SmallNumbers(ArrayFields):
    """Numbers of 32 bits: number i is `small[i]`, or `large[k]` if i is `rows[k]`.

    >>> numbers = SmallNumbers.of([np.array([1, 2, 700, 3])])
    >>> numbers.small.tolist(), numbers.rows.tolist(), numbers.large.tolist()
    ([1, 2, 0, 3], [2], [700])
    >>> numbers[1:3].tolist(), len(numbers)
    ([2, 700], 4)
    """

    small: npt.NDArray[np.uint8]
    rows: npt.NDArray[np.int64]
    large: npt.NDArray[np.uint32]

    LAYOUT: ClassVar[Layout] = {"small": "u1|packed n", "rows": "i8 n_large", "large": "u4 n_large"}

    @classmethod
    def of(cls, pieces: Iterable[Array], scratch: Scratch | None = None) -> SmallNumbers:
        """Encode numbers, which need not be in memory at the same time; the result is stored in `scratch`."""
        column = SmallNumbersColumn(scratch or Scratch())
        for piece in pieces:
            column.append(piece)
        return column.finish()

    def __len__(self) -> int:
        return len(self.small)

    def __getitem__(self, rows: slice | Integers) -> npt.NDArray[np.uint32]:
        """Consecutive numbers, or those at some places.

        >>> numbers = SmallNumbers.of([np.array([1, 2, 700, 3])])
        >>> numbers[1:3].tolist(), numbers[np.array([2, 0, 2])].tolist()
        ([2, 700], [700, 1, 700])
        """
        if not isinstance(rows, slice):
            return self._at(rows)
        begin, end, _ = rows.indices(len(self))
        numbers = self.small[begin:end].astype(np.uint32)
        first, last = np.searchsorted(self.rows, [begin, end])
        places = self.rows[first:last] - begin
        check_numbers(places, len(numbers), "row")
        numbers[places] = self.large[first:last]
        return numbers

    def _at(self, indices: Integers) -> npt.NDArray[np.uint32]:
        numbers = self.small[indices].astype(np.uint32)
        if len(self.rows):
            zeros = np.flatnonzero(numbers == 0)
            wanted = indices[zeros]
            places = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
            numbers[zeros] = np.where(self.rows[places] == wanted, self.large[places], 0)
        return numbers

    @property
    def core(self) -> _core.SmallNumbers:
        return _core.SmallNumbers(small=core_numbers(self.small), rows=self.rows, large=self.large)

    def sum(self) -> int:
        """The sum of all numbers."""
        return int(self.small[:].sum(dtype=np.int64) + self.large.sum(dtype=np.int64))

    def packed(self) -> Self:
        """The numbers, all of them packed."""
        return replace(self, small=PackedNumbers.of(self[:]), rows=self.rows[:0], large=self.large[:0])

    def check(self) -> None:
        """Raise DamagedError unless the rows of the large numbers are valid and increase."""
        check_numbers(self.rows, len(self), "row")
        if (np.diff(self.rows) <= 0).any() or self.small[self.rows].any():
            raise DamagedError("the rows of large numbers do not fit")


class SmallNumbersColumn:
    """Small numbers that grow at their end; on disk if the scratch is."""

    def __init__(self, scratch: Scratch) -> None:
        self._small, self._rows = Column(scratch, np.uint8), Column(scratch, np.int64)
        self._large = Column(scratch, np.uint32)

    def append(self, piece: Array) -> None:
        """Add numbers."""
        is_large = piece > _LARGEST
        self._rows.append(np.flatnonzero(is_large) + len(self._small))
        self._large.append(piece[is_large].astype(np.uint32))
        self._small.append(np.where(is_large, 0, piece).astype(np.uint8))

    def finish(self) -> SmallNumbers:
        """All numbers; nothing can be added after this."""
        return SmallNumbers(self._small.finish(), self._rows.finish(), self._large.finish())
