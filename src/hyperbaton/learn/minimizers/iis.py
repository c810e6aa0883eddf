"""Improved iterative scaling (XI11 §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective


@dataclass(eq=False)
class Iis(Minimizer):
    """Improved iterative scaling."""

    tolerance: float = option(1e-3, "stop when the gain of a pass falls below this fraction of the first one", minimum=0)

    method: ClassVar = "iis"

    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        return Minimum(*self._core(objective).iis(objective.start, **vars(self), progress=progress))
