"""Square matrices over classes, written as text so that they fit a flag, an experiment file and a manifest.

uniform      Δ = 1 between any two classes
sides        ordered classes around a middle one: 0.5 between neighbours on the same side of it, else 1 (NI11 Fig. 5)
ordered      |i − j| / (n − 1)
estimated    from the confusions of a first model, see `estimate_delta`
0 .5; .5 0   rows of numbers, separated by semicolons
"""

from __future__ import annotations

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError


def parse_matrix(text: str, n_classes: int, what: str) -> Array:
    """Read rows of numbers into a matrix of shape (n_classes, n_classes)."""
    try:
        rows = [[float(number) for number in row.replace(",", " ").split()] for row in text.split(";")]
    except ValueError as error:
        raise OptionError(f"{what} must be a name or rows of numbers like '0 1; 1 0', not {text!r}") from error
    if len(rows) != n_classes or any(len(row) != n_classes for row in rows):
        raise OptionError(f"{what} must be {n_classes} × {n_classes} for {n_classes} classes, not {text!r}")
    matrix = np.array(rows)
    if not np.isfinite(matrix).all():
        raise OptionError(f"{what} must hold finite numbers, not {text!r}")
    return matrix


def matrix_text(matrix: Array) -> str:
    """Write a matrix as an option's text.

    >>> matrix_text(np.array([[0, 0.5], [0.5, 0]]))
    '0.0 0.5; 0.5 0.0'
    """
    return "; ".join(" ".join(repr(float(value)) for value in row) for row in matrix)


def delta_matrix(text: str, n_classes: int) -> Array:
    """The margins Δ(true class, other class) of NI11 eq. 5; not for "estimated".

    >>> delta_matrix("sides", 5)[0].tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0]
    """
    place = np.arange(n_classes)
    distance: Array = np.abs(place[:, None] - place[None, :]).astype(float)
    if text == "uniform":
        return np.minimum(distance, 1)
    if text == "ordered":
        return np.divide(distance, max(n_classes - 1, 1))
    if text == "sides":
        side = np.sign(2 * place - (n_classes - 1))
        near = (distance == 1) & (side[:, None] == side[None, :]) & (side[:, None] != 0)
        return np.where(near, 0.5, np.minimum(distance, 1))
    delta = parse_matrix(text, n_classes, "delta")
    if (delta < 0).any() or np.diagonal(delta).any():
        raise OptionError(f"delta must be 0 on the diagonal and nowhere negative, not {text!r}")
    return delta


def delta_from_confusions(counts: Array, nearest: float = 0.5) -> Array:
    """Margins estimated from how often classes are confused.

    With c_ij rows of class i predicted as j, the confusion of a pair is s_ij = (c_ij + c_ji) / (n_i + n_j), and
    Δ_ij = 1 − (1 − nearest) · s_ij / max s: the most confused pair is `nearest` apart, a pair never confused 1.

    >>> delta_from_confusions(np.array([[8, 2, 0], [2, 8, 0], [0, 1, 9]])).round(3).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 0.875], [1.0, 0.875, 0.0]]
    """
    counts = np.asarray(counts, dtype=float)
    totals = counts.sum(axis=1)
    both = totals[:, None] + totals[None, :]
    confusion = np.divide(counts + counts.T, both, out=np.zeros_like(counts), where=both > 0)
    np.fill_diagonal(confusion, 0)
    top = confusion.max(initial=0)
    delta: Array = 1 - (1 - nearest) * (confusion / top if top > 0 else confusion)
    np.fill_diagonal(delta, 0)
    return delta


def kernel_matrix(text: str, n_classes: int) -> Array:
    """An output kernel: "identity", or rows of numbers that are symmetric and positive semi-definite."""
    if text == "identity":
        return np.eye(n_classes)
    kernel = parse_matrix(text, n_classes, "output kernel")
    if not np.allclose(kernel, kernel.T) or np.linalg.eigvalsh(kernel).min() < -1e-10 or np.diagonal(kernel).min() <= 0:
        raise OptionError(f"an output kernel must be symmetric, positive semi-definite, with a positive diagonal: {text!r}")
    return kernel
