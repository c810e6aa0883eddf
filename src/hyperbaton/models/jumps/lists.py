"""The features of all training sentences of a jump model, computed once and kept in memory or in mapped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.scratch import Column
from hyperbaton.models.shapes.next_position import JumpTraining

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = _core.N_JUMP_CONSTANTS
# Memory for computing the features of a list; a sentence has as many lists as the square of its length: a list has up
# to 28 features of 4 bytes each, and up to twice that in temporary vectors.
_BYTES = 28 * 12
_COUNTED = 1 << 20  # features that are counted at once: numpy doubles their size
_SENTENCES = 20_000  # largest number of sentences used to find the frequent features


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
    scratch, order = training.resources.scratch, _by_frequency(training, keys, n_features)
    numbers = np.empty(n_features, np.uint32)
    numbers[order] = np.arange(n_features, dtype=np.uint32)
    columns = {"counts": Column(scratch, np.uint8), "packed": Column(scratch, np.uint8)}
    columns |= {"n_bytes": Column(scratch, np.int64), "n_ids": Column(scratch, np.int64)}
    core, features = training.core(), training.features(keys)
    for begin, end in _ranges(training):
        part = features.packed_lists(core, numbers, begin, end, n_threads=training.resources.threads)
        for column, values in zip(columns.values(), part, strict=True):
            column.append(values)
        training.resources.report(end, len(training.source.text))
    arrays = {name: column.finish() for name, column in columns.items()}
    starts = np.concatenate([[0], np.cumsum(arrays.pop("n_bytes"))])
    return {**arrays, "starts": starts, "order": order}


def _by_frequency(training: JumpTraining, keys: Array, n_features: int) -> Array:
    """The features, frequent ones first, so that their weights are adjacent in memory and their numbers are small; the
    constants stay first. Frequencies are estimated from some of the sentences, at even intervals."""
    visited = np.flatnonzero(np.diff(training.visits.offsets))
    chosen = visited[:: len(visited) // _SENTENCES + 1]
    some = training._replace(source=training.source.select(chosen), visits=training.visits.select(chosen))
    core, features, frequency = some.core(), training.features(keys), np.zeros(n_features, np.int64)
    for begin, end in _ranges(some):
        ids = features.lists(core, begin, end, n_threads=training.resources.threads)[1]
        for at in range(0, len(ids), _COUNTED):
            np.add.at(frequency, ids[at : at + _COUNTED], 1)  # bincount would go over all features every time
    last = N_CONSTANTS + len(keys)
    order = np.arange(n_features, dtype=np.uint32)
    order[N_CONSTANTS:last] = N_CONSTANTS + np.argsort(-frequency[N_CONSTANTS:last], kind="stable")
    return order


def _ranges(training: JumpTraining) -> list[tuple[int, int]]:
    """Sentences whose features are computed together."""
    starts = np.concatenate([[0], np.cumsum(n_lists(training.source.text.lengths))])
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
