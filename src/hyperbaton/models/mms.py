"""Max-margin structure learning, NI11 §2.2.3: a perceptron whose margins Δ are smaller between classes that are close.

The update is that of NI11 Table 2; stopping early, on samples held out of each cluster, stands for a regulariser.
Clusters that no weights separate would go on to the limit of passes without getting better, and the more text, the more
samples lie in such clusters: a low limit keeps the cost of a sample the same whatever the size of the corpus. NI11 allows
500 passes. The norm-bounded problem, NI11 eq. 6, has the learner `extragradient`.
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
        "psl:delta=sides:max-passes=20:unit-length=yes", "learner and its options", plugins=LEARNERS
    )
