"""Maximum margin regression, NI11 §2.2.2 and Appendix B: one margin for the true class, at the cost of a binary SVM."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import Learner
from hyperbaton.learn.mmr import Mmr as MmrLearner
from hyperbaton.models._discriminative import Discriminative, learner_options


@dataclass(eq=False)
class Mmr(Discriminative):
    """Maximum margin regression by dual coordinate descent (MMR)."""

    cost: float = option(1.0, "C, weight of the losses against the norm", minimum=1e-12, maximum=1e12)
    unit_length: bool = option(True, "scale the features of a phrase pair to Euclidean length 1")
    max_passes: int = option(200, "passes over the samples at most", minimum=1)
    tolerance: float = option(1e-2, "largest violation of the optimality conditions", minimum=0)

    def _learner(self) -> Learner:
        return MmrLearner(**learner_options(self, MmrLearner))
