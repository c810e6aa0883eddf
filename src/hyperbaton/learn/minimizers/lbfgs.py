"""L-BFGS: all sentences in every pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimum, Objective, QuasiNewton


@dataclass(eq=False)
class Lbfgs(QuasiNewton):
    """L-BFGS, on all processors."""

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
            start = self._warm_start(core, progress)
        return Minimum(
            *core.lbfgs(
                start,
                variance=self.variance,
                memory=self.memory,
                max_passes=self.max_passes,
                tolerance=self.tolerance,
                gain=self.gain,
                checkpoint=checkpoint,
                progress=progress,
            )
        )

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        # AdaGrad has three vectors for each thread, the start two sums in two orders and their quotient.
        warm = (3 * n_threads + 5) * 8 * n_weights if self.warmup else 0
        return max(warm, super().n_bytes(n_weights, n_threads))

    def _warm_start(self, core: Any, progress: Progress | None) -> npt.NDArray[np.float64]:
        """Weights that AdaGrad finds for parts of the sentences, averaged."""
        if not hasattr(core, "warm_start"):
            raise OptionError("this model has no AdaGrad to start from: leave warmup out")
        weighted, shares = core.warm_start(n_passes=self.warmup, variance=self.variance, progress=progress)
        return np.asarray(weighted / shares)
