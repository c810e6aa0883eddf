"""Multinomial logistic regression by stochastic exponentiated gradient on the dual, with shrinking: AL14 Algorithm 1.

minimise  D(α) = 1/(2σ²) Σ_k ‖w_k(α)‖² + Σ_ik α_ik log α_ik,   Σ_k α_ik = 1                      AL14 eq. 9
          w_k(α) = σ² Σ_i (p̃_ik − α_ik) x_i                                                      AL14 eq. 10
by        α_ik ∝ α_ik exp(−η_ik ∇_ik D), the step sizes η halved until D does not rise           AL14 eq. 11–14

Algorithm 1 has η = 0.5 for all. Newton's step for log α is η_ik = 1/(1 + σ²‖x_i‖² α_ik), with the level of ∇ chosen so that
Σ_k α_ik stays 1: one visit then nearly solves the problem of a single row. Algorithm 1 as printed is step="fixed",
initial=1e-4. With N rows this start gives weights as large as σ²·N/10⁴, which the first passes must undo; by
default α starts at the true class, w at 0, and a row gets its other mass when it is first visited.

At the solution −D(α) = P(w), the objective of `lbfgs` and `sgd`. The duality gap is Σ_i KL(α_i ‖ p(· | x_i)): each
row's term measures how far it is from the condition of eq. 16, under which a row leaves the active set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.learn._learner import Learner, TrainingExamples


@dataclass(eq=False)
class DualEg(Learner):
    """Multinomial logistic regression on the dual, skipping solved rows; fast on all rows at once.

    `history_` has the active rows, the duality gap and the re-checks of each pass; `alpha_` holds the dual variables of
    `fit`; `converged_` says whether the last check of all rows (`recheck`) found none above `epsilon`.

    >>> DualEg(epsilon=0.01).fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    visits_at_random: ClassVar[bool] = True

    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    epsilon: float = option(0.1, "a row is inactive when its gradients differ by at most this threshold", minimum=0)
    initial: float = option(
        0.0,
        "initial probability mass of wrong classes (ε of eq. 15); 0: none before the first visit",
        minimum=0,
        maximum=0.999,
    )
    step: str = option("newton", "step size: from the curvature of each class, or 0.5 for all", choices=("newton", "fixed"))
    max_trials: int = option(10, "maximum number of halvings of the step size", minimum=1)
    n_steps: int = option(1, "number of updates per visit to a row", minimum=1)
    max_passes: int = option(100, "maximum number of passes over the active rows", minimum=1)
    recheck: bool = option(True, "check all rows again before stopping")

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.dual_eg_trainer(
            variance=self.variance,
            epsilon=self.epsilon,
            initial=self.initial,
            newton=self.step == "newton",
            max_trials=self.max_trials,
            n_steps=self.n_steps,
            max_passes=self.max_passes,
            recheck=self.recheck,
        )

    def _fit(self, training: TrainingExamples, validation: _core.Validation | None, progress: Progress | None) -> None:
        super()._fit(training, validation, progress)
        if "alpha" in self.history_:
            self.alpha_ = self.history_.pop("alpha").reshape(-1, training.n_classes)
        self.converged_ = not self.history_.pop("left", np.zeros(1))[0]
