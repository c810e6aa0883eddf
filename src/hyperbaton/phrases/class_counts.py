"""How often phrases, or phrase pairs, have each orientation class, looked up by key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.store import Arrays
from hyperbaton.phrases.occurrences import Keys


@dataclass(frozen=True)
class ClassCounts:
    """Counts of classes by key: row i of `counts` (n_keys, n_classes) belongs to `keys[i]`, increasing.

    >>> counts = ClassCounts.of(np.array([7, 5, 7], np.uint64), np.array([0, 1, 1]), n_classes=2)
    >>> counts.at(np.array([7, 6], np.uint64)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """

    keys: Keys
    counts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, keys: Keys, labels: npt.NDArray[np.integer[Any]], n_classes: int) -> ClassCounts:
        """Count labels by key; their order does not matter."""
        distinct, _, numbers = _core.number_keys(keys)
        return cls.of_numbered(distinct, numbers, labels, n_classes)

    @classmethod
    def of_numbered(
        cls, keys: Keys, numbers: npt.NDArray[np.integer[Any]], labels: npt.NDArray[np.integer[Any]], n_classes: int
    ) -> ClassCounts:
        """Count labels by key, where label i belongs to `keys[numbers[i]]`."""
        counts = np.empty((len(keys), n_classes), np.uint32)
        for label in range(n_classes):
            counts[:, label] = np.bincount(numbers[labels == label], minlength=len(keys))
        return cls(keys, counts)

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The row of each key, -1 where it has none."""
        if len(self.keys) == 0:
            return np.full(len(keys), -1)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known_rows: npt.NDArray[np.int64] = np.where(self.keys[rows] == keys, rows, -1)
        return known_rows

    def at(self, keys: Keys) -> npt.NDArray[np.float64]:
        """The counts of each key, zeros where it has none; shape (n, n_classes)."""
        rows = self.find(keys)
        counts = np.zeros((len(keys), self.counts.shape[1]))
        counts[rows >= 0] = self.counts[rows[rows >= 0]]
        return counts

    @property
    def totals(self) -> npt.NDArray[np.int64]:
        """Counts of each key over all classes."""
        totals: npt.NDArray[np.int64] = self.counts.sum(axis=1, dtype=np.int64)
        return totals

    def arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for the store."""
        return {f"{prefix}.keys": self.keys, f"{prefix}.counts": self.counts}

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str) -> ClassCounts:
        """The inverse of `arrays`."""
        return cls(arrays[f"{prefix}.keys"], arrays[f"{prefix}.counts"])


def smooth(counts: npt.NDArray[np.float64], smoothing: float, towards: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probabilities (counts + s·K·q) / (total + s·K) of K classes, with q the distribution `towards`.

    >>> smooth(np.array([[2.0, 0.0]]), 0.5, np.array([0.5, 0.5])).round(3).tolist()
    [[0.833, 0.167]]
    """
    mass = smoothing * counts.shape[-1]
    probabilities: npt.NDArray[np.float64] = (counts + mass * towards) / (counts.sum(axis=-1, keepdims=True) + mass)
    return probabilities
