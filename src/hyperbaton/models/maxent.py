"""Maximum entropy (ME): multinomial logistic regression with a Gaussian prior, NI11 eq. 2 and AL14 eq. 5–7."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative, learner_options


@dataclass(eq=False)
class Maxent(Discriminative):
    """Maximum entropy with a Gaussian prior (ME)."""

    learner: str = option("lbfgs", "how weights are found", choices=("lbfgs", "sgd", "gis"))
    variance: float = option(0.1, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    unit_length: bool = option(False, "scale the features of a phrase pair to Euclidean length 1")
    max_passes: int = option(100, "passes over the samples at most", minimum=1)
    tolerance: float = option(1e-3, "stop when the gradient is this part of the first one", minimum=0)

    def _learner(self) -> Learner:
        cls = LEARNERS[self.learner]
        return cls(**learner_options(self, cls))
