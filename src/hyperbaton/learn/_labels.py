"""Labels and clusters of rows, checked and numbered from 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.learn._rows import RowsError


def number_labels(labels: npt.ArrayLike, n_rows: int, n_classes: int | None) -> tuple[Array, Array]:
    """Return the classes, and each row's class number.

    With `n_classes`, labels are numbers below it, and classes without a row are allowed; without, they may be
    anything that sorts, and the classes are those that occur.
    """
    if labels is None:
        raise RowsError("fit requires y to be passed, but the target y is None: give one label for each row")
    values = np.asarray(labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        raise RowsError(f"there must be one label for each row: {n_rows} rows, labels of shape {values.shape}")
    if values.dtype.kind in "fc":
        if not np.isfinite(values).all():
            raise RowsError("labels hold NaN or infinity (inf)")
        if (values != np.floor(values.real)).any():
            raise RowsError("Unknown label type: continuous. Labels name classes, so they cannot be fractions")
    if n_classes is None:
        classes, numbers = np.unique(values, return_inverse=True)
        return classes, numbers.astype(np.int32)
    if n_classes < 1:
        raise RowsError(f"n_classes must be at least 1, not {n_classes}")
    if values.dtype.kind not in "iufb":
        raise RowsError(f"with n_classes, labels must be the numbers 0…{n_classes - 1}, not {values.dtype}")
    if values.size and (values.min() < 0 or values.max() >= n_classes):
        row = np.flatnonzero((values < 0) | (values >= n_classes))[0]
        raise RowsError(f"label {values[row]} of row {row} is outside 0…{n_classes - 1}")
    return np.arange(n_classes), values.astype(np.int32, copy=False)


def number_known_labels(labels: npt.ArrayLike, n_rows: int, classes: Array) -> Array:
    """Each row's class number, for labels that must be among the classes."""
    values = np.asarray(labels)
    if values.shape != (n_rows,):
        raise RowsError(f"there must be one label for each row: {n_rows} rows, labels of shape {values.shape}")
    numbers = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
    unknown = np.flatnonzero(classes[numbers] != values)
    if unknown.size:
        raise RowsError(f"label {values[unknown[0]]} of row {unknown[0]} for validation is not among those to learn from")
    return numbers.astype(np.int32)


def number_clusters(clusters: npt.ArrayLike, n_rows: int, n_clusters: int | None) -> tuple[Array, int]:
    """Return each row's cluster (-1: in none), and the number of clusters."""
    values = np.asarray(clusters)
    if values.shape != (n_rows,) or values.dtype.kind not in "iu":
        raise RowsError(f"there must be one whole number for each row's cluster: {n_rows} rows, found {values.shape}")
    numbers = values.astype(np.int64)
    n_numbered = int(numbers.max(initial=-1)) + 1
    if n_clusters is None:
        return numbers, n_numbered
    if n_numbered > n_clusters:
        raise RowsError(f"cluster {n_numbered - 1} is outside 0…{n_clusters - 1}")
    return numbers, n_clusters


def log_prior(prior: npt.ArrayLike | None, n_rows: int, n_classes: int) -> Array | None:
    """The logarithm of a prior distribution for each row (XI11 eq. 3), checked; None for none."""
    if prior is None:
        return None
    values = np.asarray(prior, dtype=np.float64)
    if values.shape != (n_rows, n_classes):
        raise RowsError(f"the prior must have the shape (rows, classes) = ({n_rows}, {n_classes}), not {values.shape}")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise RowsError("prior probabilities must be finite and above 0: smooth them first")
    return np.asarray(numeric.log(values))
