"""Maximum entropy (ME): multinomial logistic regression with a Gaussian prior, NI11 eq. 2 and AL14 eq. 5–7."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative


@dataclass(eq=False)
class Maxent(Discriminative):
    """Maximum entropy with a Gaussian prior (ME)."""

    learner: str | Learner = option(
        "lbfgs:variance=0.1:max-passes=100:tolerance=0.001", "learner and its options", plugins=LEARNERS
    )
