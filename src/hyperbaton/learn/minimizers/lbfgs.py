"""L-BFGS: all sentences in every pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective
from hyperbaton.learn.minimizers.adagrad import Adagrad


@dataclass(eq=False)
class Lbfgs(Minimizer):
    """L-BFGS, on all processors."""

    tolerance: float = option(
        1e-3, "stop when the gradient norm falls below this fraction of its value at zero weights", minimum=0
    )
    gain: float = option(
        0.0, "stop when the objective falls by less than this fraction of itself per step, over five steps", minimum=0
    )
    memory: int = option(7, "number of steps that the curvature is estimated from", minimum=1)
    warmup: int = option(0, "passes by AdaGrad before the first, to start from better weights", minimum=0)

    method: ClassVar = "lbfgs"
    state_layout: ClassVar = {
        "x": "f8 n",
        "gradient": "f8 n",
        "objective": "f8 n_passes",
        "numbers": "f8 3",
        "products": "f8 n_pairs",
        "step.*": "f4 n",
        "change.*": "f4 n",
    }

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        core, checkpoint = self._core(objective), objective.checkpoint
        start = objective.start
        if self.warmup and (checkpoint is None or not checkpoint.has_start()):
            if not hasattr(core, Adagrad.method):
                raise OptionError("this model has no AdaGrad to start from: leave warmup out")
            start = Adagrad(self.variance, self.warmup).pass_over(core, start, None, progress)[0].weights
        options = {name: value for name, value in vars(self).items() if name != "warmup"}
        return Minimum(*core.lbfgs(start, **options, checkpoint=checkpoint, progress=progress))

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        warm = Adagrad().n_bytes(n_weights, n_threads) if self.warmup else 0
        # Weights and gradients of the current point and of two trials, the start, the direction, the curvature, the weights
        # in another order; pairs of floats for each step, and one pair more; about one vector for gaps between them.
        return max(warm, (10 + self.memory + 1 + 1) * 8 * n_weights)
