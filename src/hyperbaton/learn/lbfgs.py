"""Multinomial logistic regression (maximum entropy) by L-BFGS; with an L1 term by OWL-QN.

minimise  P(w) = 1/(2σ²) Σ_k ‖w_k‖² + λ Σ_k ‖w_k‖₁ − Σ_i log p(y_i | x_i)            AL14 eq. 6, gradient eq. 7
          p(k | x) = p₀(k | x) exp(w_k · x) / Z                                      AL14 eq. 5; p₀: XI11 eq. 3

Every evaluation is one pass over the rows on all processors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.learn._learner import Learner, TrainingExamples


@dataclass(eq=False)
class Lbfgs(Learner):
    """Multinomial logistic regression with a Gaussian prior, by L-BFGS; L1 by OWL-QN.

    >>> Lbfgs(variance=1.0).fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    l1: float = option(0.0, "weight of the L1 penalty", minimum=0)
    memory: int = option(10, "number of steps that the curvature is estimated from", minimum=1)
    max_passes: int = option(500, "maximum number of passes over the rows", minimum=1)
    tolerance: float = option(1e-4, "stop when the gradient norm falls below this fraction of its initial value", minimum=0)

    takes_prior: ClassVar[bool] = True

    def _merges_features(self) -> bool:
        return self.l1 == 0

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.lbfgs_trainer(**self._options())
