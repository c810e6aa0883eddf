"""Perceptron-based structured learning, NI11 Table 2, for the structured margin loss

ρ(y, x) = max_k [Δ(y, k) + w_k · x] − w_y · x                                         NI11 eq. 5

without a regulariser (λ = 0 in eq. 4). A pass visits each row once in random order. Where the loss is above 0,
w_y += η x and w_k* −= η x for the class k* that attains the maximum (the first of equals).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.learn._delta import DeltaLearner
from hyperbaton.learn._learner import TrainingExamples


@dataclass(eq=False)
class Psl(DeltaLearner):
    """Perceptron with structured margins Δ between classes (NI11's MMS); the fastest learner for many small clusters.

    The mean loss met in a pass is its objective. With `validation`, the weights of the pass with the fewest errors on
    the rows held out are kept; a cluster too small to hold out `min_validation` rows is trained to convergence. Rows for
    validation can also be given: `fit(rows, labels, validation=(other_rows, other_labels))`.

    >>> Psl().fit([[1.0], [-1.0]], [0, 1]).predict([[3.0]]).tolist()
    [0]
    """

    takes_validation: ClassVar[bool] = True

    step: float = option(0.05, "size η of an update", minimum=1e-12)
    max_passes: int = option(500, "maximum number of passes over the rows", minimum=1)
    tolerance: float = option(
        1e-3, "stop when the relative change of the mean loss in a pass falls below this threshold", minimum=0
    )
    validation: float = option(0.0, "fraction of the rows held out to stop early", minimum=0, maximum=0.9)
    min_validation: int = option(
        20, "minimum number of rows to hold out; with fewer, training runs to convergence", minimum=1
    )
    patience: int = option(5, "stop after this many passes without fewer held-out errors", minimum=1)
    average: bool = option(False, "average the weights over all visits")

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        return _core.psl_trainer(**self._options() | {"delta": self._delta(training)})
