"""Maximum margin regression, NI11 §2.2.2 and Appendix B: one margin for the true class, at the cost of a binary SVM.

Kernels between phrase pairs (`--learner mmr:kernel=gaussian`) need a global model, `--scope global`; kernels between
classes (`--learner 'mmr:output-kernel=1 .5 0; .5 1 .5; 0 .5 1'`) do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import LEARNERS, Learner
from hyperbaton.models._discriminative import Discriminative


@dataclass(eq=False)
class Mmr(Discriminative):
    """Maximum margin regression by dual coordinate descent (MMR)."""

    learner: str | Learner = option("mmr:max-passes=200:unit-length=yes", "learner and its options", plugins=LEARNERS)
