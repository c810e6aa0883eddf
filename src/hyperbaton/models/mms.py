"""Max-margin structure learning, NI11 §2.2.3: a perceptron whose margins Δ are smaller between classes that are close.

The update is that of NI11 Table 2; early stopping, on samples held out of each cluster with 100 or more, acts as a
regulariser. It also ends the training of clusters that no weights separate, which would otherwise run up to the limit of
passes without improving. NI11 allows 500 passes. The norm-bounded problem, NI11 eq. 6, has the learner `extragradient`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative


@dataclass(eq=False)
class Mms(Discriminative):
    """Max-margin structure by a perceptron with margins between classes (MMS)."""

    learner: str | Learner = option(
        "psl:delta=sides:max-passes=100:unit-length=yes:validation=0.2", "learner and its options", plugins=LEARNERS
    )
