"""The type of arrays whose docstrings give type and shape; groups of items; text and sparse matrices for files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import DamagedError

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # which is slow to import

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.integer[Any]]  # of any width


def offsets_of(sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The offsets of consecutive groups of these sizes, 0 and the end of each; of flags, the number that are true before.

    >>> offsets_of([2, 1, 2]).tolist(), offsets_of(np.array([True, False, True])).tolist()
    ([0, 2, 3, 5], [0, 1, 1, 2])
    """
    sizes = np.asarray(sizes)
    offsets = np.zeros(len(sizes) + 1, np.int64)
    sizes.cumsum(dtype=np.int64, out=offsets[1:])
    return offsets


def gather(offsets: npt.NDArray[np.int64], groups: Integers) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The positions of the items of chosen groups, and their new offsets; group g is `offsets[g]` to `offsets[g + 1]`.

    >>> where, new = gather(np.array([0, 2, 3, 5]), np.array([2, 0]))
    >>> where.tolist(), new.tolist()
    ([3, 4, 0, 1], [0, 2, 4])
    """
    starts = offsets[groups]
    lengths = offsets[groups + 1] - starts
    new = offsets_of(lengths)
    return (starts - new[:-1]).repeat(lengths) + np.arange(new[-1]), new


def ranges(starts: Integers | int, lengths: Integers) -> npt.NDArray[np.int64]:
    """The numbers start … start + length − 1 of each range, one range after the other; `starts` may be one for all.

    >>> lengths = np.array([2, 0, 3])
    >>> ranges(np.array([5, 0, 1]), lengths).tolist(), ranges(0, lengths).tolist()
    ([5, 6, 1, 2, 3], [0, 1, 0, 1, 2])
    """
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def array_as_text(array: npt.NDArray[np.uint8]) -> str:
    """Bytes of UTF-8 as text; DamagedError if they are not."""
    try:
        return array.tobytes().decode()
    except UnicodeDecodeError:
        raise DamagedError("a text is not UTF-8") from None


# The layout of sparse matrices of 64-bit numbers; SciPy chooses the type of the column indices.
CSR_LAYOUT = {"data": "f8 n_stored", "indices": "i4|i8 n_stored", "indptr": "i4|i8 n_rows+1"}


def is_sparse(value: object) -> bool:
    """Whether a value is a SciPy sparse matrix, without importing SciPy."""
    scipy = sys.modules.get("scipy.sparse")
    return scipy is not None and bool(scipy.issparse(value))


def csr_arrays(matrix: csr_array) -> dict[str, Array]:
    """A sparse matrix as named arrays."""
    return {name: np.asarray(getattr(matrix, name)) for name in CSR_LAYOUT}


def csr_of_arrays(arrays: Mapping[str, Array], shape: tuple[int, int]) -> csr_array:
    """The inverse of `csr_arrays`."""
    from scipy.sparse import csr_array

    data, indices, indptr = (np.array(arrays[name]) for name in CSR_LAYOUT)
    try:
        matrix = csr_array((data, indices, indptr), shape=shape)
        matrix.check_format()
    except ValueError as error:
        raise DamagedError(f"a sparse matrix does not fit: {error}") from error
    return matrix
