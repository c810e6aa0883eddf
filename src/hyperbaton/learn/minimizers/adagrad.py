"""AdaGrad: one sentence at a time, a few passes (Duchi et al. 2011).

w −= step · g / √Σ g²        after each sentence; the step falls linearly to 0 over all passes

Parts of the sentences learn side by side. After each pass their weights are averaged, each weighted by its confidence
√Σ g², and the mean of their Σ g² is added to that of earlier passes.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective

if TYPE_CHECKING:
    from hyperbaton.base.training_states import MinimizerStates

log = logging.getLogger(__name__)

_FEW_PARTS = 4  # averages of more are clearly worse


@dataclass(eq=False)
class Adagrad(Minimizer):
    """AdaGrad, sentence by sentence; a few passes are enough."""

    max_passes: int = option(3, "number of passes over the sentences", minimum=1)
    step: float | None = option(None, "initial size of an update; the default depends on the model", minimum=1e-12)

    method: ClassVar = "adagrad"
    state_layout: ClassVar = {"weights": "f8 n n_weights", "squares": "f8 n n_weights", "objective": "f8 n_passes"}

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        minimum, n_parts = self.pass_over(self._core(objective), objective.start, objective.checkpoint, progress)
        if n_parts > _FEW_PARTS:
            advice = f"the learner lbfgs:variance={self.variance:g}:warmup=2 finds the minimum in more passes"
            log.warning("the weights are averages of %d parts, which predict less well; %s", n_parts, advice)
        return minimum

    def pass_over(
        self, core: Any, start: Any, states: MinimizerStates | None, progress: Progress | None
    ) -> tuple[Minimum, int]:
        """Find weights for an objective of the core; `start` has their shape and is 0. Returns the number of parts too."""
        saved = None if states is None else states.start()
        weights, squares, history = start, np.zeros_like(start), list[float]()
        if saved is not None:
            weights, squares, history = saved["weights"], saved["squares"], saved["objective"].tolist()
        n_sentences, n_parts = core.count_sentences(), 0
        step = core.adagrad_step if self.step is None else self.step
        for number in range(len(history), self.max_passes):
            loss, n_parts, weighted, shares, own_squares = core.adagrad(
                weights,
                squares,
                n_sentences,
                step=step,
                variance=self.variance,
                number=number,
                n_passes=self.max_passes,
                progress=progress,
            )
            weights = np.divide(weighted, shares, out=weights.copy(), where=shares > 0)
            squares += own_squares / n_parts
            history.append(loss + float(np.vdot(weights, weights)) / (2 * self.variance))
            if states is not None and states.due():
                states.save({"weights": weights, "squares": squares, "objective": np.array(history)})
        return Minimum(weights, np.array(history)), n_parts

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        # Each thread has weights, squares and derivatives in single precision and up to two numbers for each feature. All
        # parts have weights and squares, three sums, and up to three vectors while these are averaged.
        return (3 * n_threads + 8) * 8 * n_weights
