"""The features of all training sentences of a jump model, computed once and kept in memory or in mapped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.scratch import Column
from hyperbaton.models.shapes.next_position import JumpTraining

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = _core.N_JUMP_CONSTANTS
# Memory for computing the features of a list; a sentence has as many lists as the square of its length: a list has up
# to 28 features of 4 bytes each, and up to twice that in temporary vectors.
_BYTES = 28 * 12


def n_lists(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of feature lists of sentences: a measure of their cost in training."""
    return (lengths + 1) * (lengths + 5)


def most_bytes(training: JumpTraining) -> int:
    """The memory needed to compute the features of the longest sentence."""
    return _BYTES * int(n_lists(training.source.text.lengths).max(initial=0))


class FeatureLists(NamedTuple):
    """Features of lists, sentence by sentence; features are numbered like their keys, after the constants."""

    counts: Array  # (n_lists,): features of each list
    ids: Array  # (Σ counts,)


def feature_lists(training: JumpTraining, keys: Array) -> FeatureLists:
    """The features of all sentences."""
    threads, scratch = training.resources.threads, training.resources.scratch
    counts, ids = Column(scratch, np.uint8), Column(scratch, np.uint32)
    core, features = training.core(), training.features(keys)
    for begin, end in _ranges(training):
        for column, values in zip((counts, ids), features.lists(core, begin, end, n_threads=threads)[:2], strict=True):
            column.append(values)
    return FeatureLists(counts.finish(), ids.finish())


def packed_lists(training: JumpTraining, keys: Array, n_features: int) -> dict[str, Array]:
    """The arrays of `_core.KeptLists`."""
    scratch, n_last = training.resources.scratch, n_features - N_CONSTANTS - len(keys)
    numbers = _core.FeatureNumbers(n_features=n_features, n_first=N_CONSTANTS, n_last=n_last)
    columns = {"counts": Column(scratch, np.uint8), "packed": Column(scratch, np.uint8)}
    columns |= {"n_bytes": Column(scratch, np.int64), "n_ids": Column(scratch, np.int64)}
    core, features = training.core(), training.features(keys)
    for begin, end in _ranges(training):
        own = training.resources.items(begin, of=len(training.source.text))
        part = features.packed_lists(core, numbers, begin, end, n_threads=own.threads, progress=own.progress)
        for column, values in zip(columns.values(), part, strict=True):
            column.append(values)
    arrays = {name: column.finish() for name, column in columns.items()}
    starts = offsets_of(arrays.pop("n_bytes"))
    return {**arrays, "starts": starts, "order": numbers.order()}


def _ranges(training: JumpTraining) -> list[tuple[int, int]]:
    """Sentences whose features are computed together."""
    starts = offsets_of(n_lists(training.source.text.lengths))
    return training.resources.scratch.ranges(starts, _BYTES)


@dataclass(frozen=True)
class JumpForm:
    """Everything that the sum over jumps depends on besides sentences and weights."""

    planes: int
    remaining: bool
    coverage: bool
    n_features: int

    def objective(self, training: JumpTraining, lists: dict[str, Array]) -> _core.JumpObjective:
        """The sum over precomputed lists of features."""
        return _core.JumpObjective.over_lists(
            training.core(),
            _core.KeptLists(**lists),
            planes=self.planes,
            remaining=self.remaining,
            coverage=self.coverage,
            n_threads=training.resources.threads,
        )

    def recomputing_objective(self, training: JumpTraining, keys: Array) -> _core.JumpObjective:
        """The sum over features that are computed in every pass."""
        return _core.JumpObjective(
            training.core(),
            keys,
            planes=self.planes,
            remaining=self.remaining,
            coverage=self.coverage,
            n_threads=training.resources.threads,
        )
