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

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import RowsOnDemand, TrainingRows
from hyperbaton.learn._learner import Learner, TrainingExamples, rows_at
from hyperbaton.learn._models import LinearModel


@dataclass(eq=False)
class DualEg(Learner):
    """Multinomial logistic regression on the dual, skipping solved rows; fast on all rows at once.

    `history_` has the active rows, the duality gap, the re-checks, and the bytes of rows and α of each pass; `alpha_` holds
    the dual variables of `fit`; `converged_` says whether the last check of all rows found none above `epsilon`.

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
    literal: bool = option(False, "Algorithm 1 as printed: initial=1e-4, step=fixed, recheck=no")

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        if self.literal:
            return replace(self, initial=1e-4, step="fixed", recheck=False, literal=False)._trainer(training)
        given = {name: value for name, value in self._options().items() if name not in ("step", "literal")}
        options = _core.DualEgOptions(**given, newton=self.step == "newton")
        if training.source is not None and not self.recheck:
            options.drop_rows(**(training.state or _START))
        return _core.dual_eg_trainer(options)

    def _fit(self, training: TrainingExamples, validation: _core.Validation | None, progress: Progress | None) -> None:
        by_pass: dict[str, Array] = {}
        while True:
            super()._fit(training, validation, progress)
            end = {name: self.history_.pop(name) for name in _AT_THE_END if name in self.history_}
            self.history_["bytes"] = np.full(len(self.history_["objective"]), _n_bytes(training))
            by_pass = {
                name: np.concatenate([by_pass.get(name, values[:0]), values]) for name, values in self.history_.items()
            }
            if "kept" not in end:
                break
            training = self._without_dropped(training, by_pass, end)
        self.history_ = by_pass
        if "alpha" in end:
            self.alpha_ = end["alpha"].reshape(-1, training.n_classes)
        self.converged_ = not end.get("left", np.zeros(1))[0]

    def _without_dropped(
        self, training: TrainingExamples, by_pass: dict[str, Array], end: dict[str, Array]
    ) -> TrainingExamples:
        """The examples that are still active, made again, with the state in which the learner left them."""
        places = end["kept"].astype(np.int64)
        training.chunks.clear()  # frees the rows before others are made
        numbers = cast(Array, training.order)[places]
        kept = np.sort(numbers)
        before, order = cast(TrainingRows, training.source), np.searchsorted(kept, numbers).astype(np.uint32)
        source = RowsOnDemand(before.n_features, len(kept), lambda numbers: before.at(kept[numbers]))
        training.chunks.append(rows_at(source, order, Resources.of(self.threads, None, training.scratch)))
        state = {
            "n_passes": len(by_pass["objective"]),
            "weights": cast(LinearModel, self.model_).weights.ravel(),
            "log_alpha": end["log-alpha"],
            "dual": by_pass["objective"][-1],
            "removed_gap": end["removed"][0],
        }
        return replace(training, labels=training.labels[places], order=order, source=source, state=state)


_START: dict[str, Any] = {"n_passes": 0, "weights": np.zeros(0), "log_alpha": np.zeros(0), "dual": 0.0, "removed_gap": 0.0}
_AT_THE_END = ("alpha", "left", "kept", "log-alpha", "removed")  # of the core's history, not by pass


def _n_bytes(training: TrainingExamples) -> float:
    """The memory of the rows and of α."""
    arrays = [array for rows in training.chunks for array in (rows.indptr, rows.indices, rows.values)]
    alpha = len(training.labels) * training.n_classes * np.dtype(np.float64).itemsize
    return float(alpha + sum(array.nbytes for array in arrays if array is not None))
