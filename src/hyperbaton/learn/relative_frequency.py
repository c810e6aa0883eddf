"""The distribution of the classes by counting, AL14 eq. 4:  p(k) = (n_k + s·K·q_k) / (n + s·K)

with s the smoothing, K the number of classes, and q uniform or the distribution of all rows. It uses no features: over
all rows it is the prior of the classes, by cluster the lexicalized model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.learn._learner import Learner, TrainingExamples


@dataclass(eq=False)
class RelativeFrequency(Learner):
    """Relative frequencies of the classes, smoothed; by cluster it is the lexicalized model.

    Scores are natural logarithms of the probabilities, so `predict_proba` gives exactly these. Without smoothing a
    class that never occurs has the score −∞.

    >>> RelativeFrequency(smoothing=0.5).fit([[1.0], [1.0], [1.0]], [0, 0, 1]).predict_proba([[1.0]]).round(3).tolist()
    [[0.625, 0.375]]
    """

    fits_poorly: ClassVar = True

    smoothing: float = option(0.5, "pseudo-count of each class", minimum=0)
    towards: str = option("uniform", "how pseudo-counts are distributed over the classes", choices=("uniform", "overall"))

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        if not self.intercept:
            raise OptionError("relative frequencies are kept as the weights of the constant: set intercept")
        shares = np.full(training.n_classes, 1 / training.n_classes)
        if self.towards == "overall":
            shares = np.bincount(training.labels, minlength=training.n_classes) / len(training.labels)
        return _core.relative_frequency_trainer(smoothing=self.smoothing, expected=shares)
