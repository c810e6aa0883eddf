"""Sparse feature rows: in memory, memory-mapped, or computed on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array, Integers, gather


@dataclass(frozen=True)
class Rows:
    """Sparse rows: the features of row i are `indices[indptr[i]:indptr[i + 1]]`, increasing, with `values` or all ones.

    >>> rows = Rows(np.array([0, 2, 3]), np.array([0, 4, 1], dtype=np.int32), n_features=5)
    >>> rows.shape, rows.at(np.array([1, 0])).indices.tolist()
    ((2, 5), [1, 0, 4])
    """

    indptr: Array
    indices: Array
    n_features: int
    values: Array | None = None

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    def at(self, numbers: Integers) -> Rows:
        """The rows with these numbers, in this order."""
        where, indptr = gather(self.indptr, numbers)
        values = None if self.values is None else self.values[where]
        return Rows(indptr, self.indices[where], self.n_features, values)


class TrainingRows(ABC):
    """The rows of training data, computed on demand: only the rows in use need to be in memory."""

    n_features: int
    n_rows: int

    @abstractmethod
    def at(self, numbers: npt.NDArray[np.uint32]) -> Rows:
        """The rows with these numbers, in this order."""

    def all(self) -> Rows:
        """All rows."""
        return self.at(np.arange(self.n_rows, dtype=np.uint32))


@dataclass(frozen=True)
class RowsOnDemand(TrainingRows):
    """Training rows that a function computes from their numbers."""

    n_features: int
    n_rows: int
    compute: Callable[[npt.NDArray[np.uint32]], Rows]

    def at(self, numbers: npt.NDArray[np.uint32]) -> Rows:
        return self.compute(numbers)
