"""Multinomial logistic regression on the dual, AL14 Algorithm 1: one model for all phrase pairs, trained with shrinking.

`history_` tells the part of the samples that is still worked on by pass (AL14 Fig. 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import Learner
from hyperbaton.learn.dual_eg import DualEg
from hyperbaton.models._discriminative import Discriminative, learner_options


@dataclass(eq=False)
class DualMlr(Discriminative):
    """One logistic model for all phrase pairs, on the dual with shrinking (Dual MLR)."""

    features: str = option("aligned_words", "feature set")
    scope: str = option("global", "one sub-model for each source phrase, or one for all", choices=("clusters", "global"))
    variance: float = option(0.1, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    epsilon: float = option(0.1, "a sample is left alone when its gradients differ by at most this", minimum=0)
    max_passes: int = option(30, "passes over the active samples at most", minimum=1)

    def _learner(self) -> Learner:
        return DualEg(**learner_options(self, DualEg))
