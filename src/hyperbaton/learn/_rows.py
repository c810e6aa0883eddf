"""Examples for learners: what a user has, checked, as views that the core reads without copying.

The core reads offsets of 64 bits, feature ids of 32 bits that increase inside a row, and values of 64 bits or none.
Arrays of those types are never copied, so they can be memory-mapped files larger than memory; others are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.base.scratch import Column, Scratch


class RowsError(InputError, ValueError):
    """Rows, labels or clusters that a learner cannot use."""


@dataclass(frozen=True)
class BinaryRows:
    """Rows whose features fire or do not: the features of row i are `indices[indptr[i]:indptr[i + 1]]`, increasing.

    >>> rows = BinaryRows(np.array([0, 2, 3]), np.array([0, 4, 1], dtype=np.int32), n_features=5)
    >>> rows.shape
    (2, 5)
    """

    indptr: Array
    indices: Array
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_features)."""
        return len(self.indptr) - 1, self.n_features


# A chunk is BinaryRows or a CSR matrix of SciPy; rows as users give them are a chunk, a list of chunks or an array.
Chunk = Any
RowsLike = Any


def as_chunks(rows: RowsLike) -> list[Chunk]:
    """The rows as a list of chunks: BinaryRows or CSR matrices."""
    if isinstance(rows, (list, tuple)) and rows and all(isinstance(r, BinaryRows) or sparse.issparse(r) for r in rows):
        return [_as_chunk(chunk) for chunk in rows]
    return [_as_chunk(rows)]


def _as_chunk(rows: RowsLike) -> Chunk:
    if isinstance(rows, BinaryRows):
        return rows
    if sparse.issparse(rows):
        if rows.dtype.kind == "c":
            raise RowsError("Complex data not supported: values must be real")
        rows = rows.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    dense = np.asarray(rows)
    if dense.dtype.kind == "c":
        raise RowsError("Complex data not supported: values must be real")
    if dense.ndim != 2:
        raise RowsError(f"Expected 2D array, got {dense.ndim}D array instead. Reshape your data: rows × features")
    if dense.shape[1] == 0 or dense.shape[0] == 0:
        return sparse.csr_array(dense.shape, dtype=np.float64)
    try:
        dense = dense.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"values must be numbers: {error}") from error
    if not np.isfinite(dense).all():
        raise RowsError("rows hold NaN or infinity (inf); values must be finite")
    return sparse.csr_array(dense)


def core_rows(chunks: Sequence[Chunk], *, constant: bool, unit_length: bool) -> _core.Rows:
    """Check the chunks and hand them to the core as one set of rows."""
    n_features = chunks[0].shape[1]
    rows = _core.Rows(n_features=n_features, constant=constant, unit_length=unit_length)
    for chunk in chunks:
        if chunk.shape[1] != n_features:
            raise RowsError(f"a chunk of rows has {chunk.shape[1]} features, the first one {n_features}")
        values = None if isinstance(chunk, BinaryRows) else _contiguous(chunk.data, np.float64)
        try:
            rows.add(_contiguous(chunk.indptr, np.int64), _contiguous(chunk.indices, np.int32), values)
        except HyperbatonError as error:
            raise RowsError(str(error)) from error
    return rows


def _contiguous(array: Array, dtype: type) -> Array:
    if dtype is np.int32 and array.dtype != np.int32 and array.size and array.max() > np.iinfo(np.int32).max:
        raise RowsError(f"feature {array.max()} is beyond the largest feature id, {np.iinfo(np.int32).max}")
    # The file is read through the mapping, but handed over as a plain array: the core knows no other.
    return np.asarray(np.ascontiguousarray(array, dtype=dtype))


def join_rows(rows_at: Callable[[Array], RowsLike], numbers: Iterable[Array], scratch: Scratch) -> Chunk:
    """The rows with these numbers, made piece by piece, as one chunk that lies where scratch puts it."""
    starts, indices = Column(scratch, np.int64), Column(scratch, np.int32)
    values: Column | None = None
    starts.append(np.zeros(1, np.int64))
    n_features = 0
    for piece in numbers:
        for chunk in as_chunks(rows_at(piece)):
            n_features = chunk.shape[1]
            starts.append(chunk.indptr[1:] + np.int64(len(indices)))
            indices.append(chunk.indices)
            if not isinstance(chunk, BinaryRows):
                values = Column(scratch, np.float64) if values is None else values
                values.append(chunk.data)
    if values is None:
        return BinaryRows(starts.finish(), indices.finish(), n_features)
    parts = (values.finish(), indices.finish(), starts.finish())
    return sparse.csr_array(parts, shape=(len(parts[2]) - 1, n_features))


def split_rows(chunks: Sequence[Chunk], chosen: Array) -> list[Chunk]:
    """The rows where `chosen` (a mask over all rows) is set."""
    parts, at = [], 0
    for chunk in chunks:
        n = chunk.shape[0]
        part = chosen[at : at + n]
        if isinstance(chunk, BinaryRows):
            lengths = np.diff(chunk.indptr)
            starts = np.concatenate([[0], np.cumsum(lengths[part])]).astype(np.int64)
            offset = int(chunk.indptr[0])
            entries = np.asarray(chunk.indices[offset : int(chunk.indptr[-1])])
            parts.append(BinaryRows(starts, entries[np.repeat(part, lengths)], chunk.n_features))
        else:
            parts.append(chunk[np.flatnonzero(part)])
        at += n
    return parts
