"""Behaviour common to all feature sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import Layout
from hyperbaton.base.options import CheckedOptions
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Arrays
from hyperbaton.corpus import Vocabulary
from hyperbaton.phrases import Occurrences


class FeatureSet(CheckedOptions, Picklable, ABC):
    """Turns phrase pairs in context into sparse rows; its options are its fields.

    If `coverage` is true, the model also has weights for the coverage state of a phrase. They are not part of the rows,
    which are known before the coverage.
    """

    coverage: bool = False

    def fit(
        self, occurrences: Occurrences, labels: npt.NDArray[np.uint8], n_classes: int, *, threads: int | None = None
    ) -> Rows:
        """Fix the feature space on training data, and return its rows."""
        return self.fit_rows(occurrences, labels, n_classes, Resources.of(threads)).all()

    @abstractmethod
    def fit_rows(
        self, occurrences: Occurrences, labels: npt.NDArray[np.uint8], n_classes: int, resources: Resources
    ) -> TrainingRows:
        """Fix the feature space like `fit`; rows are computed on demand from tables, kept in the scratch."""

    @abstractmethod
    def rows(self, occurrences: Occurrences, *, threads: int | None = None) -> Rows:
        """The rows of other phrase pairs, over the vocabularies of training."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features."""

    def keep(self, features: npt.NDArray[np.bool_], scratch: Scratch) -> npt.NDArray[np.bool_]:
        """Keep only these features, (n_features,), renumbered in order; return which ones were kept.

        A set whose features cannot be dropped one by one keeps them all.
        """
        return np.ones(len(features), bool)

    @abstractmethod
    def describe(self, feature: int, source: Vocabulary, target: Vocabulary) -> str:
        """Describe a feature in words."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """The fitted arrays, for storage."""

    def layout(self, n_classes: int) -> Layout:
        """Types and shapes of the arrays that `arrays` returns (`base/forms.py`); others are read as saved."""
        return {}

    @abstractmethod
    def restore(self, arrays: Arrays) -> Self:
        """Restore the fitted state from the arrays of `arrays`."""
