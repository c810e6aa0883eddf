"""Trained models: a few flat arrays that score rows, with one model for all rows or one per cluster.

Scores are linear, s_k = w_k · x, or sums of kernels. Probabilities are their softmax, NI11 eq. 3 with h = exp.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import CSR_LAYOUT, Array, array_as_text, csr_arrays, csr_of_arrays
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Arrays, check_finite, group
from hyperbaton.learn._labels import number_clusters
from hyperbaton.learn._rows import RowsError, RowsLike, as_chunks, core_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def softmax(scores: Array) -> Array:
    """Probabilities of the classes from scores of shape (rows, classes).

    >>> import numpy as np
    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    powers = numeric.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _large(weights: Array, threshold: float, scratch: Scratch) -> npt.NDArray[np.bool_]:
    """Whether a row of weights has one of at least this absolute value."""
    n, n_classes = weights.shape
    return scratch.filled(n, np.bool_, 16 * n_classes, lambda rows: np.abs(weights[rows]).max(axis=1) >= threshold)


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
        chunks = as_chunks(rows)
        if chunks[0].n_features != self.n_features:
            raise RowsError(f"rows have {chunks[0].n_features} features, the weights {self.n_features}")
        rows_in_core = core_rows(chunks, constant=self.constant, unit_length=self.unit_length)
        return _core.score_rows(rows_in_core, self.weights, n_threads=n_threads(threads), progress=progress)

    def large(self, threshold: float, scratch: Scratch) -> npt.NDArray[np.bool_]:
        """Whether a feature has a weight of at least this absolute value, shape (n_features,)."""
        return _large(self.weights[: self.n_features], threshold, scratch)

    def keep(self, features: npt.NDArray[np.bool_], scratch: Scratch) -> LinearModel:
        """The model of these features alone, (n_features,), renumbered in order."""
        return replace(self, weights=scratch.select(self.weights, np.append(features, [True] * self.constant)))

    def arrays(self) -> dict[str, Array]:
        return {"weights": self.weights, "shape": np.array([self.constant, self.unit_length], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LinearModel:
        return cls(arrays["weights"], *arrays["shape"].astype(bool).tolist())


@dataclass(frozen=True)
class KernelModel:
    """Scores by kernels with some rows of training: s_k(x) = Σ_n c_nk κ(x, x_n).

    Arguments:
        support: the rows x_n, CSR.
        coefficients: shape (n_support, n_classes).
        kernel: `polynomial` or `gaussian`, with its gamma, shift and degree.
        unit_length: whether rows are scaled to length 1 before they are scored.
    """

    support: csr_array
    coefficients: Array
    kernel: str
    gamma: float
    shift: float
    degree: float
    unit_length: bool

    @property
    def n_features(self) -> int:
        return int(self.support.shape[1])

    def scores(self, rows: RowsLike, threads: int = 0, progress: Progress | None = None) -> Array:
        """Scores of shape (rows, classes)."""
        chunks = as_chunks(rows)
        if chunks[0].n_features != self.n_features:
            raise RowsError(f"rows have {chunks[0].n_features} features, the support {self.n_features}")
        return _core.score_kernel(
            core_rows(chunks, constant=False, unit_length=self.unit_length),
            core_rows(as_chunks(self.support), constant=False, unit_length=self.unit_length),
            self.coefficients,
            kernel=_core.InputKernel(shape=self.kernel, gamma=self.gamma, shift=self.shift, degree=self.degree),
            n_threads=n_threads(threads),
            progress=progress,
        )

    def arrays(self) -> dict[str, Array]:
        rows = self.support
        return {
            **{f"support.{name}": array for name, array in csr_arrays(rows).items()},
            "coefficients": self.coefficients,
            "kernel": np.frombuffer(self.kernel.encode(), np.uint8),
            "parameters": np.array([self.gamma, self.shift, self.degree, self.unit_length, self.n_features], np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> KernelModel:
        gamma, shift, degree, unit_length, n_features = arrays["parameters"].tolist()
        check_finite(arrays["parameters"], "a parameter of the kernel")
        support = csr_of_arrays(group(arrays, "support"), (len(arrays["coefficients"]), int(n_features)))
        return cls(
            support, arrays["coefficients"], array_as_text(arrays["kernel"]), gamma, shift, degree, bool(unit_length)
        )


GlobalModel = LinearModel | KernelModel

# Of either.
GLOBAL_LAYOUT: Layout = {
    "weights?": "f8 n_rows n_classes",
    "shape?": "i8 2",
    **within("support?", CSR_LAYOUT),
    "coefficients?": "f8 support.n_rows n_classes",
    "kernel?": "u1 n_letters",
    "parameters?": "f8 5",
}


def restored_model(arrays: Mapping[str, Array]) -> GlobalModel:
    """The model of all rows whose `arrays` these are."""
    return KernelModel.from_arrays(arrays) if "kernel" in arrays else LinearModel.from_arrays(arrays)


@dataclass(frozen=True)
class ClusterModel:
    """One sub-model for each cluster of rows, over only the features that the cluster saw.

    Arguments:
        offsets: cluster c owns the entries `offsets[c]:offsets[c + 1]` of `features` and `weights`.
        features: feature ids, increasing inside a cluster; the constant is the id `n_features`.
        weights: shape (entries, n_classes), of 32 bits: there are far more of them than of anything else.
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

    LAYOUT: ClassVar[Layout] = {
        "offsets": "i8 n_clusters+1",
        "features": "i4 n",
        "weights": "f4|f8 n n_classes",
        "objective": "f8 n_clusters",
        "shape": "i8 3",
    }

    @property
    def n_clusters(self) -> int:
        return len(self.offsets) - 1

    def scores(self, rows: RowsLike, clusters: npt.ArrayLike, threads: int = 0, progress: Progress | None = None) -> Array:
        """Scores of shape (rows, classes); all zero for rows of cluster -1 and for features their cluster never saw."""
        chunks = as_chunks(rows)
        if chunks[0].n_features != self.n_features:
            raise RowsError(f"rows have {chunks[0].n_features} features, the clusters were trained with {self.n_features}")
        rows_in_core = core_rows(chunks, constant=self.constant, unit_length=self.unit_length)
        numbers, _ = number_clusters(clusters, len(rows_in_core), self.n_clusters)
        return _core.score_clusters(
            rows_in_core,
            numbers,
            self.offsets,
            self.features,
            self.weights,
            n_threads=n_threads(threads),
            progress=progress,
        )

    def prune(self, threshold: float, scratch: Scratch) -> ClusterModel:
        """The model without the features of each cluster whose weights are all below the threshold in absolute value."""
        large = _large(self.weights, threshold, scratch)
        offsets = np.zeros(self.n_clusters + 1, np.int64)
        for rows in scratch.rows(len(large), row_bytes=16):
            offsets += np.searchsorted(rows.start + np.flatnonzero(large[rows]), self.offsets)
        return replace(
            self,
            offsets=offsets,
            features=scratch.select(self.features, large),
            weights=scratch.select(self.weights, large),
        )

    def used_features(self, scratch: Scratch) -> npt.NDArray[np.bool_]:
        """Whether any cluster has a feature, shape (n_features,)."""
        used = np.zeros(self.n_features + 1, bool)
        for rows in scratch.rows(len(self.features), row_bytes=8):
            used[self.features[rows]] = True
        return used[: self.n_features]

    def keep(self, features: npt.NDArray[np.bool_], scratch: Scratch) -> ClusterModel:
        """The model with these features, (n_features,), renumbered in order; they include all that it uses."""
        numbers = np.append(np.int32(0), np.cumsum(features, dtype=np.int32))  # of the features, and of the constant
        renumbered = scratch.filled(len(self.features), np.int32, 16, lambda rows: numbers[self.features[rows]])
        return replace(self, features=renumbered, n_features=int(numbers[-1]))

    def arrays(self) -> dict[str, Array]:
        shape = np.array([self.constant, self.unit_length, self.n_features], np.int64)
        names = ("offsets", "features", "weights", "objective")
        return {name: getattr(self, name) for name in names} | {"shape": shape}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ClusterModel:
        constant, unit_length, n_features = arrays["shape"].tolist()
        return cls(
            offsets=arrays["offsets"],
            features=arrays["features"],
            weights=np.asarray(arrays["weights"], np.float32),  # models of earlier builds have 64 bits
            objective=arrays["objective"],
            classes=np.arange(arrays["weights"].shape[1]),
            n_features=n_features,
            constant=bool(constant),
            unit_length=bool(unit_length),
        )

    def predict(self, rows: RowsLike, clusters: npt.ArrayLike, threads: int = 0) -> Array:
        """The label with the largest score for each row."""
        return self.classes[self.scores(rows, clusters, threads).argmax(axis=1)]

    def predict_proba(self, rows: RowsLike, clusters: npt.ArrayLike, threads: int = 0) -> Array:
        """Probabilities of shape (rows, classes)."""
        return softmax(self.scores(rows, clusters, threads))


def joined_clusters(models: Iterable[ClusterModel], n_clusters: int, scratch: Scratch) -> ClusterModel:
    """Clusters that were trained group by group as one model, with its weights in `scratch`."""
    offsets, objective = np.zeros(n_clusters + 1, np.int64), np.full(n_clusters, np.nan)
    features, weights = Column(scratch, np.int32), Column(scratch, np.float32)
    begin, model = 0, None
    for model in models:
        end = begin + model.n_clusters
        offsets[begin + 1 : end + 1] = offsets[begin] + model.offsets[1:]
        objective[begin:end] = model.objective
        features.append(model.features)
        weights.append(model.weights)
        begin = end
    if model is None:
        raise RowsError("there are no clusters to join")
    return replace(model, offsets=offsets, features=features.finish(), weights=weights.finish(), objective=objective)


class NotFitted(OptionError, ValueError, AttributeError):
    """A learner was used before it was fitted."""
