"""The norm-bounded max-margin structure problem as a saddle point, NI11 eq. 6 and Appendix A:

min_{‖w_k‖ ≤ R} Σ_i ρ_i = min_w max_z Σ_i Σ_k z_ik (Δ(y_i, k) + w_k·x_i)

by the extragradient method (Taskar et al. 2006): a trial step, then the step from the old point along the gradients
of the trial point, each followed by projection onto the balls and the simplices. The saddle gap
Σ_i ρ_i(w) − [Σ_ik β_ik Δ(y_i, k) − R Σ_k ‖Σ_i z_ik x_i‖] bounds the distance to the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.learn._delta import DeltaLearner
from hyperbaton.learn._learner import TrainingExamples


@dataclass(eq=False)
class Extragradient(DeltaLearner):
    """Structured margins with bounded norms, as a saddle-point problem with a certificate.

    >>> Extragradient().fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    radius: float = option(10.0, "R, largest norm of a class's weights", minimum=1e-12, maximum=1e12)
    max_passes: int = option(500, "maximum number of steps, of two passes each", minimum=1)
    tolerance: float = option(1e-3, "stop when the saddle gap falls below this fraction of the loss", minimum=0)

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.extragradient_trainer(**self._options() | {"delta": self._delta(training)})
