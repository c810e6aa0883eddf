"""Elementary functions and products with the same bits on every processor.

NumPy chooses the code of `np.exp`, `np.log` and `@` by the processor it runs on, and their last bits differ. Values in
artefacts, scores and weights are computed with these functions instead. Sums (`np.sum`, `np.mean`, `np.bincount`),
`np.sqrt` and the four operations are the same everywhere. docs/design/same-everywhere.md says what is promised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # which is slow to import

Floats = npt.NDArray[np.float64]

LOG_2 = 0.6931471805599453


def exp(values: npt.ArrayLike) -> Any:
    """e to the power of each value, as float64.

    >>> exp([0.0, 1.0]).round(6).tolist()
    [1.0, 2.718282]
    """
    return _apply(_core.exp, values)


def log(values: npt.ArrayLike) -> Any:
    """The natural logarithm of each value, as float64; of 0 it is -inf, without a warning."""
    return _apply(_core.log, values)


def log1p(values: npt.ArrayLike) -> Any:
    """The natural logarithm of 1 plus each value, as float64."""
    return _apply(_core.log1p, values)


def log2(values: npt.ArrayLike) -> Any:
    """The binary logarithm of each value, as float64; not necessarily exact for powers of two."""
    return log(values) / LOG_2


def power(values: npt.ArrayLike, exponent: float) -> Any:
    """Non-negative values to one power; whole powers by multiplication.

    >>> power([2.0, 3.0], 2).tolist()
    [4.0, 9.0]
    """
    return _apply(lambda flat: _core.power(flat, float(exponent)), values)


def log_softmax(scores: Array) -> Floats:
    """Log-probabilities proportional to exp(scores), along the last axis."""
    shifted = np.asarray(scores, np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    return np.asarray(shifted - log(exp(shifted).sum(axis=-1, keepdims=True)))


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Normal random numbers by the polar method: NumPy's method sometimes uses the C library's logarithm."""
    n = shape[0] * shape[1]
    values = np.zeros(0)
    while len(values) < n:
        pairs = 2 * rng.random((n + 8, 2)) - 1
        squares = (pairs * pairs).sum(axis=1)
        inside = (squares > 0) & (squares < 1)
        pairs, squares = pairs[inside], squares[inside]
        values = np.append(values, pairs * np.sqrt(-2 * log(squares) / squares)[:, None])
    return values[:n].reshape(shape)


def product(left: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """The matrix product, each sum in the order of its terms; `right` may be a vector.

    >>> product([[1, 2], [3, 4]], [1, 1]).tolist()
    [3.0, 7.0]
    """
    rows, columns = (np.ascontiguousarray(side, np.float64) for side in (left, right))
    if columns.ndim == 1:
        return product(rows, columns[:, None])[:, 0]
    return np.asarray(_core.product(rows, columns)).reshape(len(rows), columns.shape[1])


def sparse_product(rows: csr_array, vector: Array) -> Floats:
    """The product of a CSR matrix of SciPy and a vector, each sum in the order of its terms."""
    columns, offsets = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int64, copy=False)
    values, vector = (np.ascontiguousarray(side, np.float64) for side in (rows.data, vector))
    return _core.sparse_product(values, columns, offsets, vector)


def _apply(function: Callable[[Floats], None], values: npt.ArrayLike) -> Any:
    result = np.array(values, np.float64, order="C")
    function(result.reshape(-1))
    return result if result.ndim else np.float64(result)
