"""Improved iterative scaling for maximum entropy models with a prior distribution for each row, XI11 eq. 3:

p(k | x) = p₀(k | x) exp(Σ_f λ_fk x_f) / Z

The objective is that of `lbfgs` (AL14 eq. 6). With M_i the sum of row i's values, each pass adds to every weight λ_fk
the δ that solves

Σ_i p(k | x_i) x_if exp(δ M_i) + (λ_fk + δ)/σ² = Σ_i x_if [y_i = k]

by Newton's method (Della Pietra et al. 1997). Values must not be negative. The rows are kept in memory a second time,
by feature.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.learn._learner import TrainingExamples
from hyperbaton.learn._scaling import ScalingLearner


@dataclass(eq=False)
class Iis(ScalingLearner):
    """Maximum entropy by improved iterative scaling, relative to a prior distribution for each row.

    >>> Iis().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], prior=[[0.9, 0.1], [0.5, 0.5]]).predict([[0.0, 3.0]]).tolist()
    [1]
    """

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.iis_trainer(**self._options())
