"""Support vector machines, NI11 §2.2.1: one against the rest, or Crammer–Singer."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import Learner
from hyperbaton.learn.svm import Svm as SvmLearner
from hyperbaton.models._discriminative import Discriminative, learner_options


@dataclass(eq=False)
class Svm(Discriminative):
    """Support vector machines by dual coordinate descent (SVM)."""

    kind: str = option("one-vs-rest", "how classes are set against each other", choices=("one-vs-rest", "crammer-singer"))
    cost: float = option(1.0, "C, weight of the losses against the norm", minimum=1e-12, maximum=1e12)
    unit_length: bool = option(True, "scale the features of a phrase pair to Euclidean length 1")
    max_passes: int = option(200, "passes over the samples at most", minimum=1)
    tolerance: float = option(1e-2, "largest violation of the optimality conditions", minimum=0)

    def _learner(self) -> Learner:
        return SvmLearner(**learner_options(self, SvmLearner))
