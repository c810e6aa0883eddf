"""Multinomial logistic regression on the dual, AL14 Algorithm 1: one model for all phrase pairs, trained with shrinking.

`history_` contains the fraction of active samples by pass (AL14 Fig. 1). Algorithm 1 as printed is `--learner
dual_eg:literal=yes`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.features import FEATURES, FeatureSet
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative


@dataclass(eq=False)
class DualMlr(Discriminative):
    """One logistic model for all phrase pairs, on the dual with shrinking (Dual MLR)."""

    features: str | FeatureSet = option("aligned_words", "feature set and its options; + joins sets", plugins=FEATURES)
    learner: str | Learner = option("dual_eg:variance=0.1:max-passes=30", "learner and its options", plugins=LEARNERS)
    scope: str = option("global", "one sub-model per source phrase, or one global model", choices=("clusters", "global"))
