"""Ordered classes: one weight vector and K − 1 thresholds, which NI11 §5 names as future work.

minimise  1/(2σ²) (‖w‖² + ‖θ‖²) + Σ_i Σ_t ℓ(± (w·x_i − θ_t)),   + for thresholds below the true class, else −

with ℓ(z) = log(1 + exp(−z)) or max(0, 1 − z)²: all thresholds count (Rennie and Srebro 2005), so a class far from the
truth costs more than its neighbour. The class is the number of thresholds below w·x. Written as scores of the classes,
s_k = k·w·x − Σ_{t ≤ k} θ_t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn._learner import Learner, TrainingExamples


@dataclass(eq=False)
class Ordinal(Learner):
    """Ordered classes: one direction and thresholds along it.

    Classes are ordered as their labels sort. The thresholds are in `thresholds_`.

    >>> Ordinal(variance=100.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 2]).predict([[-5.0], [9.0]]).tolist()
    [0, 2]
    """

    fits_poorly: ClassVar = True  # unordered classes

    loss: str = option("logistic", "loss for a threshold on the wrong side", choices=("logistic", "margin"))
    variance: float = option(1.0, "σ² of the Gaussian prior of weights and thresholds", minimum=1e-12, maximum=1e12)
    memory: int = option(10, "number of steps that the curvature is estimated from", minimum=1)
    max_passes: int = option(500, "maximum number of passes over the rows", minimum=1)
    tolerance: float = option(1e-4, "stop when the gradient norm falls below this fraction of its initial value", minimum=0)

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        if not self.intercept:
            raise OptionError("thresholds are kept as the weights of the constant: set intercept")
        return _core.ordinal_trainer(**self._options())

    def _fit(self, training: TrainingExamples, validation: _core.Validation | None, progress: Progress | None) -> None:
        super()._fit(training, validation, progress)
        if "thresholds" in self.history_:
            self.thresholds_ = self.history_.pop("thresholds")
