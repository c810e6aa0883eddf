"""L-BFGS on an objective in PyTorch, on a processor or a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimum, Objective, QuasiNewton


@dataclass(eq=False)
class Torch(QuasiNewton):
    """L-BFGS in PyTorch, on a GPU with device=cuda."""

    device: str = option("cpu", "where PyTorch computes, e.g. cpu or cuda")
    device_memory: str = option("", "memory of the device for features, e.g. 8G; the others are sent in every pass")

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        # The vectors are on the device; only weights and saved states are copied back.
        return super().n_bytes(n_weights, n_threads) if self.device == "cpu" else 4 * 8 * n_weights

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        room = parse_memory(self.device_memory, "device-memory") if self.device_memory else None
        sums = objective.torch(self.device, room, n_steps=self.memory)
        from hyperbaton.learn.minimizers._lbfgs_torch import minimize  # PyTorch is imported by now

        weights, history = minimize(
            sums,
            self.variance,
            max_passes=self.max_passes,
            tolerance=self.tolerance,
            gain=self.gain,
            memory=self.memory,
            progress=progress,
            states=objective.checkpoint,
        )
        return Minimum(weights.cpu().numpy(), np.array(history))
