"""L-BFGS: all sentences in every pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective


@dataclass(eq=False)
class Lbfgs(Minimizer):
    """L-BFGS, on all processors."""

    tolerance: float = option(1e-3, "stop when the gradient norm falls below this fraction of its initial value", minimum=0)
    memory: int = option(7, "number of steps that the curvature is estimated from", minimum=1)

    method: ClassVar = "lbfgs"

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        return Minimum(
            *self._core(objective)(
                objective.start,
                variance=self.variance,
                memory=self.memory,
                max_passes=self.max_passes,
                tolerance=self.tolerance,
                checkpoint=objective.checkpoint,
                progress=progress,
            )
        )
