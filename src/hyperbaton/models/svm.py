"""Support vector machines, NI11 §2.2.1: one against the rest, or Crammer–Singer (`--learner svm:kind=crammer-singer`)."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative


@dataclass(eq=False)
class Svm(Discriminative):
    """Support vector machines by dual coordinate descent (SVM)."""

    learner: str | Learner = option(
        "svm:max-passes=200:tolerance=0.01:unit-length=yes", "learner and its options", plugins=LEARNERS
    )
