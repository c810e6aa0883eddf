"""The features of all training sentences of a jump model, computed once and kept in memory or in mapped files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.models.shapes.next_position import JumpTraining

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = _core.N_JUMP_CONSTANTS
# Memory for computing the features of a list; a sentence has as many lists as the square of its length: a list has up
# to 28 features of 4 bytes each, and up to twice that in temporary vectors.
_BYTES = 28 * 12
_AT_ONCE = 1 << 28  # bytes for this, unless memory is limited


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
    core, features = training.core(), training.features(keys)

    def lists(begin: int, end: int, own: Resources) -> tuple[Array, Array]:
        return features.lists(core, None, begin, end, n_threads=own.threads, progress=own.progress)[:2]

    counts, ids = _joined(training, (np.uint8, np.uint32), lists)
    return FeatureLists(counts, ids)


def kept_lists(training: JumpTraining, keys: Array, n_features: int, *, packed: bool) -> dict[str, Array]:
    """The arrays of `_core.KeptLists`; if packed, they take less memory, and a pass over them more time."""
    n_last = n_features - N_CONSTANTS - len(keys)
    numbers = _core.FeatureNumbers(n_features=n_features, n_first=N_CONSTANTS, n_last=n_last)
    core, features = training.core(), training.features(keys)

    def lists(begin: int, end: int, own: Resources) -> tuple[Array, ...]:
        find = features.packed_lists if packed else features.lists
        return find(core, numbers, begin, end, n_threads=own.threads, progress=own.progress)

    if packed:
        counts, ids, n_bytes, n_ids = _joined(training, (np.uint8, np.uint8, np.int64, np.int64), lists)
        arrays = {"packed": ids, "starts": offsets_of(n_bytes)}
    else:
        counts, ids, n_ids = _joined(training, (np.uint8, np.uint32, np.int64), lists)
        arrays = {"ids": ids, "starts": offsets_of(n_ids)}
    return {"counts": counts, "n_ids": n_ids, "order": numbers.order(), **arrays}


def _joined(
    training: JumpTraining, dtypes: Sequence[type], lists: Callable[[int, int, Resources], tuple[Array, ...]]
) -> list[Array]:
    """Columns of all sentences from those of ranges of sentences, which are computed together."""
    resources, starts = training.resources, offsets_of(n_lists(training.source.text.lengths))
    columns = [Column(resources.scratch, dtype) for dtype in dtypes]
    for begin, end in Scratch(resources.scratch.memory or _AT_ONCE).ranges(starts, _BYTES):
        own = resources.items(begin, of=len(starts) - 1)
        for column, values in zip(columns, lists(begin, end, own), strict=True):
            column.append(values)
    return [column.finish() for column in columns]


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
