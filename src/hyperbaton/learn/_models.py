"""What learners leave behind: a few flat arrays that score rows, for all rows or by cluster.

Scores are linear, s_k = w_k · x. Probabilities are their softmax, NI11 eq. 3 with h = exp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.learn._labels import number_clusters
from hyperbaton.learn._rows import RowsError, RowsLike, as_blocks, core_rows

Array = npt.NDArray[Any]


def softmax(scores: Array) -> Array:
    """Probabilities of the classes from scores of shape (rows, classes).

    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    powers = numeric.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Array = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def n_threads(threads: int) -> int:
    """0 means all processors."""
    return threads or default_threads()


@dataclass(frozen=True)
class LinearModel:
    """One weight vector for each class.

    Arguments:
        weights: shape (n_features, n_classes), with one more row at the end if there is a constant.
        constant: whether there is one: a feature that always fires.
        unit_length: whether rows are scaled to length 1 before they are scored.
    """

    weights: Array
    constant: bool
    unit_length: bool

    @property
    def n_features(self) -> int:
        return len(self.weights) - self.constant

    def scores(self, rows: RowsLike, threads: int = 0, progress: Progress | None = None) -> Array:
        """Scores of shape (rows, classes)."""
        blocks = as_blocks(rows)
        if blocks[0].shape[1] != self.n_features:
            raise RowsError(f"rows have {blocks[0].shape[1]} features, the weights {self.n_features}")
        given = core_rows(blocks, constant=self.constant, unit_length=self.unit_length)
        return _core.score_rows(given, self.weights, n_threads=n_threads(threads), progress=progress)


@dataclass(frozen=True)
class ClusterModel:
    """One sub-model for each cluster of rows, over only the features that the cluster saw.

    Arguments:
        offsets: cluster c owns the entries `offsets[c]:offsets[c + 1]` of `features` and `weights`.
        features: feature ids, increasing inside a cluster; the constant is the id `n_features`.
        weights: shape (entries, n_classes).
        objective: the last value of each cluster's objective; NaN for a cluster without rows.
        classes: the labels, in the order of the columns of `weights`.
    """

    offsets: Array
    features: Array
    weights: Array
    objective: Array
    classes: Array
    n_features: int
    constant: bool
    unit_length: bool

    @property
    def n_clusters(self) -> int:
        return len(self.offsets) - 1

    def scores(self, rows: RowsLike, clusters: Array, threads: int = 0, progress: Progress | None = None) -> Array:
        """Scores of shape (rows, classes); all zero for rows of cluster -1 and for features their cluster never saw."""
        blocks = as_blocks(rows)
        if blocks[0].shape[1] != self.n_features:
            raise RowsError(f"rows have {blocks[0].shape[1]} features, the clusters were trained with {self.n_features}")
        given = core_rows(blocks, constant=self.constant, unit_length=self.unit_length)
        numbers, _ = number_clusters(clusters, len(given), self.n_clusters)
        return _core.score_clusters(
            given, numbers, self.offsets, self.features, self.weights, n_threads=n_threads(threads), progress=progress
        )

    def predict(self, rows: RowsLike, clusters: Array, threads: int = 0) -> Array:
        """The label with the largest score for each row."""
        labels: Array = self.classes[self.scores(rows, clusters, threads).argmax(axis=1)]
        return labels

    def predict_proba(self, rows: RowsLike, clusters: Array, threads: int = 0) -> Array:
        """Probabilities of shape (rows, classes)."""
        return softmax(self.scores(rows, clusters, threads))


class NotFitted(OptionError, ValueError, AttributeError):
    """A learner was asked for answers before it learned anything."""
