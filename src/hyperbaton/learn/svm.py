"""Support vector machines by dual coordinate descent with shrinking.

one-vs-rest       for each k: min ½‖w_k‖² + C Σ_i max(0, 1 − φ(y_i, k) w_k·x_i), φ = 1 if y_i = k else −1    NI11 §2.2.1
crammer-singer    min ½ Σ_k ‖w_k‖² + C Σ_i max_k [Δ(y_i, k) + w_k·x_i] − w_{y_i}·x_i    NI11 eq. 4 and 5, C = 1/(λN)

The second is the regularised form of the max-margin structure problem that `psl` treats without a regulariser.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.learn._delta import DeltaLearner
from hyperbaton.learn._learner import TrainingExamples


@dataclass(eq=False)
class Svm(DeltaLearner):
    """Support vector machine: one-vs-rest, or Crammer–Singer with margins Δ between classes.

    The objective by pass is the dual's, which is minimised; `history_["gap"]` is the duality gap at the end.

    >>> Svm().fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    kind: str = option("one-vs-rest", "how the classes are separated", choices=("one-vs-rest", "crammer-singer"))
    cost: float = option(1.0, "C, weight of the losses relative to the norm", minimum=1e-12, maximum=1e12)
    max_passes: int = option(1000, "maximum number of passes over the active rows", minimum=1)
    tolerance: float = option(0.1, "largest violation of the optimality conditions", minimum=0)

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        options = {name: value for name, value in self._options().items() if name not in ("kind", "delta")}
        if self.kind == "crammer-singer":
            return _core.crammer_singer_trainer(delta=self._delta(training), **options)
        if self.delta != "uniform":
            raise OptionError("margins between classes (delta) need kind crammer-singer: one-vs-rest has none")
        return _core.one_vs_rest_trainer(**options)
