"""Multinomial logistic regression by stochastic gradient descent on the primal, AL14 eq. 8.

The objective is that of `lbfgs` (AL14 eq. 6). With λ = 1/(σ² N), the step size is η_t = η₀ / (1 + λ η₀ t) at the t-th
visit, which meets the conditions for convergence; η₀ is found on a sample of the rows unless it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.learn._learner import Learner, TrainingExamples


@dataclass(eq=False)
class Sgd(Learner):
    """Multinomial logistic regression by stochastic gradient descent (AL14's primal MLR).

    The objective of a pass is the sum of the losses as the rows were met, plus the penalty.

    >>> Sgd().fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    visits_at_random: ClassVar[bool] = True

    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    step: float = option(0.0, "initial step size η₀; 0: chosen on a sample", minimum=0)
    schedule: str = option("decreasing", "schedule of the step size", choices=("decreasing", "constant"))
    max_passes: int = option(100, "maximum number of passes over the rows", minimum=1)
    tolerance: float = option(
        1e-4, "stop when the relative change of the objective in a pass falls below this threshold", minimum=0
    )

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        options = self._options()
        return _core.sgd_trainer(decreasing=options.pop("schedule") == "decreasing", **options)
