"""Examples for learners: the user's rows, checked, as views that the core reads without copying.

The core reads offsets of 64 bits, feature ids of 32 bits that increase inside a row, and values of 64 bits or none.
Arrays of those types are never copied, so they can be memory-mapped files larger than memory; others are converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hyperbaton import _core
from hyperbaton.base.arrays import Array, is_sparse
from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.base.scratch import Column, Scratch


class RowsError(InputError, ValueError):
    """Rows, labels or clusters that a learner cannot use."""


# Rows as users give them: Rows, TrainingRows, a sparse matrix of SciPy, an array, or a list of Rows and sparse matrices.
RowsLike = Any


def as_chunks(rows: RowsLike) -> list[Rows]:
    """Rows in memory or memory-mapped, as a list of chunks."""
    if isinstance(rows, (list, tuple)) and rows and all(isinstance(r, Rows) or is_sparse(r) for r in rows):
        return [_as_chunk(chunk) for chunk in rows]
    return [_as_chunk(rows)]


def _as_chunk(rows: RowsLike) -> Rows:
    if isinstance(rows, Rows):
        return rows
    if is_sparse(rows):
        if rows.dtype.kind == "c":
            raise RowsError("Complex data not supported: values must be real")
        rows = rows.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return _of_matrix(rows)
    from scipy.sparse import csr_array

    dense = np.asarray(rows)
    if dense.dtype.kind == "c":
        raise RowsError("Complex data not supported: values must be real")
    if dense.ndim != 2:
        raise RowsError(f"Expected 2D array, got {dense.ndim}D array instead. Reshape your data: rows × features")
    if dense.shape[1] == 0 or dense.shape[0] == 0:
        return _of_matrix(csr_array(dense.shape, dtype=np.float64))
    try:
        dense = dense.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"values must be numbers: {error}") from error
    if not np.isfinite(dense).all():
        raise RowsError("rows hold NaN or infinity (inf); values must be finite")
    return _of_matrix(csr_array(dense))


def _of_matrix(matrix: Any) -> Rows:
    return Rows(matrix.indptr, matrix.indices, matrix.shape[1], matrix.data)


def core_rows(chunks: Sequence[Rows], *, constant: bool, unit_length: bool) -> _core.Rows:
    """Check the chunks and hand them to the core as one set of rows."""
    n_features = chunks[0].n_features
    rows = _core.Rows(n_features=n_features, constant=constant, unit_length=unit_length)
    for chunk in chunks:
        if chunk.n_features != n_features:
            raise RowsError(f"a chunk of rows has {chunk.n_features} features, the first one {n_features}")
        values = None if chunk.values is None else _contiguous(chunk.values, np.float64)
        try:
            rows.add(_contiguous(chunk.indptr, np.int64), _contiguous(chunk.indices, np.int32), values)
        except HyperbatonError as error:
            raise RowsError(str(error)) from error
    return rows


def _contiguous(array: Array, dtype: type) -> Array:
    if dtype is np.int32 and array.dtype != np.int32 and array.size and array.max() > np.iinfo(np.int32).max:
        raise RowsError(f"feature {array.max()} is beyond the largest feature id, {np.iinfo(np.int32).max}")
    # The core accepts only plain arrays; this one still reads the file through the mapping.
    return np.asarray(np.ascontiguousarray(array, dtype=dtype))


def join_rows(rows: TrainingRows, numbers: Iterable[Array], scratch: Scratch) -> Rows:
    """The rows with these numbers, computed piece by piece and kept in `scratch`."""
    starts, indices = Column(scratch, np.int64), Column(scratch, np.int32)
    values: Column | None = None
    starts.append(np.zeros(1, np.int64))
    for piece in numbers:
        part = rows.at(piece)
        starts.append(part.indptr[1:] + np.int64(len(indices)))
        indices.append(part.indices)
        if part.values is not None:
            values = Column(scratch, np.float64) if values is None else values
            values.append(part.values)
    return Rows(starts.finish(), indices.finish(), rows.n_features, None if values is None else values.finish())


def split_rows(chunks: Sequence[Rows], chosen: Array) -> list[Rows]:
    """The rows where `chosen` (a mask over all rows) is set."""
    ends = np.cumsum([chunk.n_rows for chunk in chunks])[:-1]
    return [chunk.at(np.flatnonzero(part)) for chunk, part in zip(chunks, np.split(chosen, ends), strict=True)]
