"""Generalised iterative scaling for maximum entropy models, the learner of NI11's ME baseline.

The objective is that of `lbfgs` (AL14 eq. 6; p₀ as in XI11 eq. 3). With M the largest sum of a row's values, each
pass adds to every weight λ_fk the δ that solves

Σ_i p(k | x_i) x_if · exp(δ M) + (λ_fk + δ)/σ² = Σ_i x_if [y_i = k]

which without the prior is the classic δ = log(empirical / expected) / M. Values must not be negative.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.learn._learner import TrainingExamples
from hyperbaton.learn._scaling import ScalingLearner


@dataclass(eq=False)
class Gis(ScalingLearner):
    """Maximum entropy by generalised iterative scaling: slow, kept for comparison.

    >>> Gis().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[0.0, 3.0]]).tolist()
    [1]
    """

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.gis_trainer(**self._options())
