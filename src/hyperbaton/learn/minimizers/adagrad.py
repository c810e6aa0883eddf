"""AdaGrad: one sentence at a time, fast and approximate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective


@dataclass(eq=False)
class Adagrad(Minimizer):
    """AdaGrad, sentence by sentence; a few passes are enough."""

    step: float = option(0.1, "size of an update", minimum=1e-12)

    method: ClassVar = "adagrad"

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        return Minimum(
            *self._core(objective).adagrad(
                step=self.step, variance=self.variance, max_passes=self.max_passes, seed=seed, progress=progress
            )
        )
