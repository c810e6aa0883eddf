"""Max-margin structure learning, NI11 §2.2.3: a perceptron whose margins Δ are smaller between classes that are close.

The update is that of NI11 Table 2; stopping early, on samples held out of each cluster, stands for a regulariser.
Clusters that no weights separate would go on to the limit of passes without getting better, and the more text, the more
samples lie in such clusters: a low limit keeps the cost of a sample the same whatever the size of the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.learn import Learner
from hyperbaton.learn.psl import Psl
from hyperbaton.models._discriminative import Discriminative, learner_options


@dataclass(eq=False)
class Mms(Discriminative):
    """Max-margin structure by a perceptron with margins between classes (MMS)."""

    delta: str = option("sides", "margins between classes: sides (NI11 Fig. 5), uniform, ordered, estimated, or a matrix")
    step: float = option(0.05, "size η of an update", minimum=1e-12)
    max_passes: int = option(20, "passes over the samples at most; NI11 allows 500", minimum=1)
    tolerance: float = option(1e-3, "stop when the mean loss of a pass changes by less than this part", minimum=0)
    validation: float = option(0.0, "part of the samples held out to stop early", minimum=0, maximum=0.9)
    patience: int = option(5, "passes without fewer held-out errors before stopping", minimum=1)
    average: bool = option(False, "use the mean of the weights over all visits")
    unit_length: bool = option(True, "scale the features of a phrase pair to Euclidean length 1")

    def _learner(self) -> Learner:
        return Psl(**learner_options(self, Psl))
