"""Models of jumps with a weight for each feature of (CP, NP): features of GO13 Table 1, Gaussian prior, L-BFGS or AdaGrad.

minimise  −Σ log P(NP | CP) + ‖w‖² / (2σ²)          over the jumps of the training sentences

The features are those of GO13 Table 1, each with the orientation o of its two positions: words within 2 of either, pairs of such
words with at least one of them within 1, tags of the two positions and their neighbours, and the distance class d. A feature
is kept if it occurs `min_count` times, as footnote 12 counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.models._base import Array
from hyperbaton.models._next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models._store import ModelState

# ⟨o⟩ and ⟨o, d⟩, which have no keys and come first.
N_CONSTANTS = 8


@dataclass(eq=False)
class JumpWeights(NextPositionModel):
    """Base of `pair` and `sequence`."""

    min_count: int = option(4, "occurrences that a feature needs", minimum=1)
    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    optimizer: str = option("lbfgs", "all sentences at once, or one by one (quick)", choices=("lbfgs", "adagrad"))
    max_passes: int = option(150, "passes over the sentences at most", minimum=1)
    tolerance: float = option(1e-3, "lbfgs: stop when the gradient is this part of the first one", minimum=0)
    memory: int = option(7, "lbfgs: steps that the curvature is estimated from", minimum=1)
    step: float = option(0.1, "adagrad: size of an update", minimum=1e-12)
    cache: bool = option(True, "keep the features of all sentences in memory, or find them anew in every pass")

    planes: ClassVar[int]  # weights of each feature

    def _fit(self, training: JumpTraining) -> None:
        jumps = training.core()
        self.keys_ = _core.count_jump_features(
            jumps, min_count=self.min_count, n_threads=self._n_threads, progress=training.progress
        )
        objective = _core.JumpObjective(
            jumps,
            self.keys_,
            planes=self.planes,
            cached=self.cache,
            n_threads=self._n_threads,
            progress=training.progress,
        )
        if self.optimizer == "adagrad":
            self.weights_, self.objective_ = objective.adagrad(
                variance=self.variance,
                step=self.step,
                max_passes=self.max_passes,
                seed=self.seed,
                progress=training.progress,
            )
        else:
            self.weights_, self.objective_ = objective.train(
                np.zeros((N_CONSTANTS + len(self.keys_), self.planes)),
                variance=self.variance,
                memory=self.memory,
                max_passes=self.max_passes,
                tolerance=self.tolerance,
                progress=training.progress,
            )

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
