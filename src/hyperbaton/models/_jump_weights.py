"""Models of jumps with a weight for each feature of (CP, NP): features of GO13 Table 1, Gaussian prior, L-BFGS or
AdaGrad.

minimise  −Σ log P(NP | CP) + ‖w‖² / (2σ²)          over the jumps of the training sentences

The features are those of GO13 Table 1, each with the orientation o of its two positions: words within 2 of either,
pairs of such words with at least one of them within 1, tags of the two positions and their neighbours, and the
distance class d. A feature is kept if it occurs `min_count` times, as footnote 12 counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.models._base import Array
from hyperbaton.models._next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models._store import ModelState

if TYPE_CHECKING:
    from hyperbaton.models._jump_torch import Lists

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = 8


@dataclass(eq=False)
class JumpWeights(NextPositionModel):
    """Base of `pair` and `sequence`."""

    min_count: int = option(4, "occurrences that a feature needs", minimum=1)
    variance: float = option(0.1, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    optimizer: str = option("lbfgs", "all sentences at once, or one by one (quick)", choices=("lbfgs", "adagrad"))
    max_passes: int = option(150, "passes over the sentences at most", minimum=1)
    tolerance: float = option(1e-3, "lbfgs: stop when the gradient is this part of the first one", minimum=0)
    memory: int = option(7, "lbfgs: steps that the curvature is estimated from", minimum=1)
    step: float = option(0.1, "adagrad: size of an update", minimum=1e-12)
    cache: bool = option(True, "keep the features of all sentences in memory, or find them anew in every pass")

    backend: str = option("core", "what computes: our own code, or PyTorch (lbfgs only)", choices=("core", "torch"))
    device: str = option("cpu", "torch: where it computes, e.g. cpu or cuda")

    planes: ClassVar[int]  # weights of each feature

    def _fit(self, training: JumpTraining) -> None:
        jumps = training.core()
        self.keys_ = _core.count_jump_features(
            jumps, min_count=self.min_count, n_threads=self._n_threads, progress=training.progress
        )
        if self.backend == "torch":
            self.weights_, self.objective_ = self._train_torch(training)
        else:
            self.weights_, self.objective_ = self._train_core(jumps, training.progress)

    def _train_core(self, jumps: _core.JumpText, progress: Progress | None) -> tuple[Array, Array]:
        objective = self._objective(jumps, self.cache, progress)
        shared = {"variance": self.variance, "max_passes": self.max_passes, "progress": progress}
        if self.optimizer == "adagrad":
            return objective.adagrad(step=self.step, seed=self.seed, **shared)
        start = np.zeros((N_CONSTANTS + len(self.keys_), self.planes))
        return objective.train(start, memory=self.memory, tolerance=self.tolerance, **shared)

    def _objective(self, jumps: _core.JumpText, cached: bool, progress: Progress | None) -> _core.JumpObjective:
        return _core.JumpObjective(
            jumps, self.keys_, planes=self.planes, cached=cached, n_threads=self._n_threads, progress=progress
        )

    def _train_torch(self, training: JumpTraining) -> tuple[Array, Array]:
        try:
            from hyperbaton.models import _jump_torch
        except ImportError:
            raise OptionError("the backend torch needs PyTorch: pip install 'hyperbaton[torch]'") from None
        if self.optimizer != "lbfgs":
            raise OptionError("the backend torch has the optimizer lbfgs alone")
        objective = _jump_torch.TorchObjective(self.lists(training), self.planes, self.device)
        weights, history = _jump_torch.train(
            objective,
            self.variance,
            max_passes=self.max_passes,
            tolerance=self.tolerance,
            memory=self.memory,
            progress=training.progress,
        )
        return weights.cpu().numpy(), np.array(history)

    def lists(self, training: JumpTraining) -> Lists:
        """The features of the training sentences that have jumps, by length, for PyTorch."""
        from hyperbaton.models._jump_torch import Lists

        sorted_training = training.by_length()
        _, counts, ids = self._objective(sorted_training.core(), True, training.progress).lists()
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
