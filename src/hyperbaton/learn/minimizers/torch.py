"""L-BFGS on an objective in PyTorch, on a processor or a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimum, Objective
from hyperbaton.learn.minimizers.lbfgs import Lbfgs


@dataclass(eq=False)
class Torch(Lbfgs):
    """L-BFGS in PyTorch, on a GPU with device=cuda."""

    device: str = option("cpu", "where PyTorch computes, e.g. cpu or cuda")

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        weights, history = objective.torch(self.device)(
            self.variance,
            max_passes=self.max_passes,
            tolerance=self.tolerance,
            memory=self.memory,
            progress=progress,
        )
        return Minimum(weights.cpu().numpy(), np.array(history))
