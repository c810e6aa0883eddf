"""The features of all training sentences of a jump model, found once and kept: in memory, or in mapped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.models._next_position import JumpTraining

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = 8
# Memory that finding features may take for each list, of which there are the square of a sentence's length: a list has up
# to 28 features, which take 4 bytes each, and up to twice that in the vectors that they are gathered from.
_BYTES = 28 * 12
_COUNTED = 1 << 20  # features that are counted at once: numpy makes them twice as wide


def n_lists(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many lists of features sentences have: the work that they are in training."""
    return (lengths + 1) * (lengths + 5)


class FeatureLists(NamedTuple):
    """Features of lists, sentence by sentence; features are numbered as their keys are, behind the constants."""

    counts: Array  # (n_lists,): features of each list
    ids: Array  # (Σ counts,)
    id_starts: Array  # (n_sentences + 1,): of the sentences' ids


def feature_lists(
    training: JumpTraining, keys: Array, *, threads: int, scratch: Scratch, frequency: Array | None = None
) -> FeatureLists:
    """The features of all sentences, in arrays that lie where scratch puts them; they are counted in `frequency`."""
    text, labels = training.source.text, training.source.labels
    core, features = training.core(), _core.JumpFeatures(keys, tagged=labels is not None)
    counts, ids, n_ids = Column(scratch, np.uint8), Column(scratch, np.uint32), Column(scratch, np.int64)
    n_ids.append(np.zeros(1, np.int64))
    ends = np.concatenate([[0], np.cumsum(n_lists(text.lengths))])
    for begin, end in scratch.ranges(ends, _BYTES):
        part = features.lists(core, begin, end, n_threads=threads)
        for column, values in zip((counts, ids, n_ids), part, strict=True):
            column.append(values)
        if frequency is not None:
            for at in range(0, len(part[1]), _COUNTED):
                np.add.at(frequency, part[1][at : at + _COUNTED], 1)  # bincount would go over all features every time
    return FeatureLists(counts.finish(), ids.finish(), np.cumsum(n_ids.finish(), dtype=np.int64))


def lists_by_frequency(
    training: JumpTraining, keys: Array, n_features: int, *, threads: int, scratch: Scratch
) -> dict[str, Array]:
    """The arrays of `_core.KeptLists`, which lie where scratch puts them. Features are numbered by falling frequency, so
    that the weights of frequent ones lie together in memory."""
    frequency = np.zeros(n_features, np.int64)
    lists = feature_lists(training, keys, threads=threads, scratch=scratch, frequency=frequency)
    last = N_CONSTANTS + len(keys)
    order = np.arange(n_features, dtype=np.uint32)
    order[N_CONSTANTS:last] = N_CONSTANTS + np.argsort(-frequency[N_CONSTANTS:last], kind="stable")
    numbers = np.empty(n_features, np.uint32)
    numbers[order] = np.arange(n_features, dtype=np.uint32)
    for rows in scratch.rows(len(lists.ids), 4 * lists.ids.itemsize):
        lists.ids[rows] = numbers[lists.ids[rows]]
    return {**lists._asdict(), "order": order}


@dataclass(frozen=True)
class JumpForm:
    """What the sum over jumps depends on besides sentences and weights."""

    planes: int
    remaining: bool
    coverage: bool
    n_features: int

    def objective(self, training: JumpTraining, lists: dict[str, Array], threads: int) -> _core.JumpObjective:
        """The sum over lists of features that were found before."""
        return _core.JumpObjective.over_lists(
            training.core(),
            _core.KeptLists(**lists),
            planes=self.planes,
            remaining=self.remaining,
            coverage=self.coverage,
            n_threads=threads,
        )
