"""Jump models with a weight for each feature of (CP, NP): features of GO13 Table 1 and a Gaussian prior.

minimise  −Σ log P(NP | CP) + ‖w‖² / (2σ²)          over the jumps of the training sentences

With `candidates = "remaining"` it is −Σ log P(NP | CP, visited): at each step of the visit order the candidates are the
unvisited words and EOS. With `coverage`, the class of a candidate, which describes the visited words around it, has a
separate weight that is added to its score; the classes are those of `core/phrases/remaining.hh`.

The features are those of GO13 Table 1, each with the orientation o of its two positions: words within 2 of either,
pairs of such words with at least one of them within 1, tags of the two positions and their neighbours, and the
distance class d. A feature is kept if it occurs `min_count` times, as footnote 12 counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments, option, plugin, to_mapping
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Kind, hash_arrays
from hyperbaton.base.training_states import MinimizerStates, TrainingStates
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer, Objective
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.next_position import JumpTraining, NextPositionModel, TaggedSentences

KIND = "jump-training"


# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = _core.N_JUMP_CONSTANTS
# Memory for computing the features of a list; a sentence has as many lists as the square of its length: a list has up
# to 28 features of 4 bytes each, and up to twice that in temporary vectors.
_BYTES = 28 * 12
_AT_ONCE = 1 << 28  # bytes for this, unless memory is limited


def n_lists(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of feature lists of sentences: a measure of their cost in training."""
    return (lengths + 1) * (lengths + 5)


def kept_lists(training: JumpTraining, keys: Array, n_features: int, *, packed: bool) -> dict[str, Array]:
    """The arrays of `_core.KeptLists`; packing saves memory at the cost of slower passes."""
    n_last = n_features - N_CONSTANTS - len(keys)
    numbers = _core.FeatureNumbers(n_features=n_features, n_first=N_CONSTANTS, n_last=n_last)
    core, features = training.core(), training.features(keys)

    def lists(begin: int, end: int, resources: Resources) -> tuple[Array, ...]:
        find = features.packed_lists if packed else features.lists
        return find(core, numbers, begin, end, n_threads=resources.threads, progress=resources.progress)

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
        part = resources.items(begin, of=len(starts) - 1)
        for column, values in zip(columns, lists(begin, end, part), strict=True):
            column.append(values)
    return [column.finish() for column in columns]


@dataclass(eq=False)
class JumpWeights(NextPositionModel):
    """Base of `pair` and `sequence`."""

    min_count: int = option(4, "minimum number of occurrences of a feature", minimum=1)
    learner: str | Minimizer = option("lbfgs:variance=0.1", "minimizer and its options", plugins=MINIMIZERS)
    cache: bool = option(True, "keep the features of all sentences in memory instead of recomputing them in every pass")
    coverage: bool = option(False, "add weights for what is translated around a candidate, with --candidates remaining")

    n_weights_each: ClassVar[int]  # weights of each feature
    takes_scratch: ClassVar = True

    @property
    def phases(self) -> Mapping[str, float]:
        return {"features": 1, "weights": 9}

    @property
    def n_features(self) -> int:
        """Constants, features with keys, and classes of candidates if they have weights."""
        return N_CONSTANTS + len(self.keys_) + (_core.N_CANDIDATE_CLASSES if self.coverage else 0)

    def states(self, training: JumpTraining) -> MinimizerStates | None:
        """Where training stores its state, if it does."""
        if self.checkpoint is None:
            return None
        labels = training.source.labels
        arrays: dict[str, Array] = {
            "tokens": training.source.text.tokens,
            "offsets": training.source.text.offsets,
            "positions": training.visits.positions,
            "visits": training.visits.offsets,
            **({} if labels is None else {"labels": labels}),
        }
        return MinimizerStates(
            TrainingStates(
                self.checkpoint,
                Kind(KIND, plugin(self, "learner").state_layout),
                to_mapping(self),
                {"sentences": hash_arrays(arrays)},
                self.seed,
            )
        )

    def _fit(self, training: JumpTraining) -> None:
        if self.coverage and self.candidates != "remaining":
            raise OptionError("--coverage needs --candidates remaining")
        resources = training.resources
        self.keys_ = _core.count_jump_features(
            training.core(),
            min_count=self.min_count,
            bytes=resources.scratch.memory,
            n_threads=resources.threads,
            progress=resources.phase("features").progress,
        )
        vars(self).pop("_features", None)  # of earlier training
        minimizer: Minimizer = plugin(self, "learner")
        if resources.scratch.limit is not None:
            n_weights = self.n_features * self.n_weights_each
            gradients = 8 * n_weights * min(resources.threads, _core.MAX_JUMP_CHUNKS)
            vectors = self.keys_.nbytes + gradients + minimizer.n_bytes(n_weights, resources.threads)
            longest = _BYTES * int(n_lists(training.source.text.lengths).max(initial=0))  # features of a sentence
            what = f"training {self.name} with {n_weights:,} weights"
            resources.scratch.check_room(max(vectors, longest), what, "use fewer features with --min-count")
        start = np.zeros((self.n_features, self.n_weights_each))
        objective = Objective(start, lambda: self.core_objective(training, cached=self.cache), self.states(training))
        progress = resources.phase("weights").progress
        self.weights_, self.objective_ = minimizer.minimize(objective, seed=self.seed, progress=progress)

    def core_objective(self, training: JumpTraining, *, cached: bool, packed: bool | None = None) -> _core.JumpObjective:
        """−Σ log P(NP | CP) of the jumps of training, for any weights.

        Features are computed in every pass, or `cached`: in less memory if `packed`, by default if it is limited.
        """
        core, options = training.core(), Arguments(planes=self.n_weights_each, coverage=self.coverage)
        options |= {"remaining": self.candidates == "remaining", "n_threads": training.resources.threads}
        if not cached:
            return _core.JumpObjective(core, self.keys_, **options)
        packed = training.resources.scratch.memory is not None if packed is None else packed
        kept = _core.KeptLists(**kept_lists(training, self.keys_, self.n_features, packed=packed))
        return _core.JumpObjective.over_lists(core, kept, **options)

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        weights = self.weights_[: N_CONSTANTS + len(self.keys_)]
        weights = weights.view(np.uint16) if weights.dtype == np.float16 else weights
        return _core.jump_logprobs(source.core(), self._features, weights, n_threads=self._n_threads)

    @cached_property
    def _features(self) -> _core.JumpFeatures:
        """An index of all features, which takes longer to make than to score a sentence."""
        return _core.JumpFeatures(np.asarray(self.keys_), tagged=self._label_kind() != "none")

    def _class_weights(self) -> npt.NDArray[np.float64] | None:
        if not self.coverage:
            return None
        # SEQUENCE has them for the label pair ⟨C, N⟩, the second of three.
        return np.ascontiguousarray(self.weights_[N_CONSTANTS + len(self.keys_) :, self.n_weights_each // 2], np.float64)

    def packed(self, exact: bool) -> Self:
        """The model for use only: unless it must be exact, weights are in half precision."""
        if exact:
            return self
        smaller = copy(self)
        smaller.weights_ = self.weights_.astype(np.float16)
        return smaller

    def _arrays(self) -> dict[str, Array]:
        return {"keys": self.keys_, "weights": self.weights_, "objective": self.objective_}

    def _layout(self) -> dict[str, str]:
        n_more = N_CONSTANTS + (_core.N_CANDIDATE_CLASSES if self.coverage else 0)
        return super()._layout() | {
            "keys": "u8 n",
            "weights": f"f8|f2 n+{n_more} {self.n_weights_each}",
            "objective": "f8 n_passes",
        }

    def _restore(self, state: ModelState) -> None:
        self.keys_, self.weights_ = state.arrays["keys"], state.arrays["weights"]
        self.objective_ = state.arrays["objective"]
