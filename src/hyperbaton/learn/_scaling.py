"""Common parts of the two iterative scaling learners: options, and the check that no value is negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy.typing as npt

from hyperbaton.base.options import option
from hyperbaton.learn._learner import Learner, TrainingExamples
from hyperbaton.learn._rows import RowsError, RowsLike


@dataclass(eq=False)
class ScalingLearner(Learner):
    """Multinomial logistic regression with a Gaussian prior by iterative scaling."""

    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    max_passes: int = option(500, "maximum number of passes over the rows", minimum=1)
    tolerance: float = option(
        1e-6, "stop when the relative decrease of the objective falls below this threshold", minimum=0
    )

    takes_prior: ClassVar[bool] = True
    takes_positive_only: ClassVar[bool] = True

    def _check(
        self, rows: RowsLike, labels: npt.ArrayLike, n_classes: int | None, prior: npt.ArrayLike | None
    ) -> TrainingExamples:
        training = super()._check(rows, labels, n_classes, prior)
        for chunk in training.chunks:
            if chunk.values is not None and chunk.values.min(initial=0) < 0:
                name = type(self).__name__
                raise RowsError(f"Negative values in data passed to {name}: iterative scaling needs values of at least 0")
        return training
