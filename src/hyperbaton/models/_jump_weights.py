"""Models of jumps with a weight for each feature of (CP, NP): features of GO13 Table 1 and a Gaussian prior.

minimise  −Σ log P(NP | CP) + ‖w‖² / (2σ²)          over the jumps of the training sentences

The features are those of GO13 Table 1, each with the orientation o of its two positions: words within 2 of either,
pairs of such words with at least one of them within 1, tags of the two positions and their neighbours, and the
distance class d. A feature is kept if it occurs `min_count` times, as footnote 12 counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import MissingExtra
from hyperbaton.base.options import option, plugin
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer
from hyperbaton.models._next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models._store import ModelState

if TYPE_CHECKING:
    from hyperbaton.models._jump_torch import Lists

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = 8


@dataclass(frozen=True)
class _JumpObjective:
    """What a model minimises, for minimizers."""

    model: JumpWeights
    training: JumpTraining

    @property
    def start(self) -> npt.NDArray[np.float64]:
        return np.zeros((N_CONSTANTS + len(self.model.keys_), self.model.planes))

    def core(self) -> _core.JumpObjective:
        return self.model.core_objective(self.training, cached=self.model.cache)

    def torch(self, device: str) -> Callable[..., Any]:
        try:
            from hyperbaton.models import _jump_torch
        except ImportError:
            raise MissingExtra("PyTorch", "torch") from None
        return partial(
            _jump_torch.train, _jump_torch.TorchObjective(self.model.lists(self.training), self.model.planes, device)
        )


@dataclass(eq=False)
class JumpWeights(NextPositionModel):
    """Base of `pair` and `sequence`."""

    min_count: int = option(4, "occurrences that a feature needs", minimum=1)
    learner: str | Minimizer = option("lbfgs:variance=0.1", "minimizer and its options", plugins=MINIMIZERS)
    cache: bool = option(True, "keep the features of all sentences in memory, or find them anew in every pass")

    planes: ClassVar[int]  # weights of each feature

    def _fit(self, training: JumpTraining) -> None:
        self.keys_ = _core.count_jump_features(
            training.core(), min_count=self.min_count, n_threads=self._n_threads, progress=training.progress
        )
        minimizer: Minimizer = plugin(self, "learner")
        minimum = minimizer.minimize(_JumpObjective(self, training), seed=self.seed, progress=training.progress)
        self.weights_, self.objective_ = minimum

    def core_objective(self, training: JumpTraining, *, cached: bool) -> _core.JumpObjective:
        """−Σ log P(NP | CP) of the jumps of training, for any weights."""
        return _core.JumpObjective(
            training.core(),
            self.keys_,
            planes=self.planes,
            cached=cached,
            n_threads=self._n_threads,
            progress=training.progress,
        )

    def lists(self, training: JumpTraining) -> Lists:
        """The features of the training sentences that have jumps, by length, for PyTorch."""
        from hyperbaton.models._jump_torch import Lists

        sorted_training = training.by_length()
        _, counts, ids = self.core_objective(sorted_training, cached=True).lists()
        lengths = sorted_training.source.text.lengths
        jumps = sorted_training.visits.jumps(lengths)
        following = np.zeros(int(lengths.sum()) + len(lengths), np.int64)
        rows = sorted_training.source.text.offsets[jumps.sentence] + jumps.sentence  # of each jump's sentence
        following[rows + jumps.current + 1] = jumps.next + 1
        return Lists(lengths, counts, ids, following, N_CONSTANTS + len(self.keys_))

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        return _core.jump_logprobs(
            source.core(),
            self.keys_,
            self.weights_,
            tagged=source.labels is not None,
            n_threads=self._n_threads,
            progress=None,
        )

    def _arrays(self) -> dict[str, Array]:
        return {"keys": self.keys_, "weights": self.weights_, "objective": self.objective_}

    def _restore(self, state: ModelState) -> None:
        self.keys_, self.weights_ = state.arrays["keys"], state.arrays["weights"]
        self.objective_ = state.arrays["objective"]
