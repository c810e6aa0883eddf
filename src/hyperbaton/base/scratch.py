"""Arrays that may be larger than memory: in memory while they fit, otherwise in temporary files that are memory-mapped.

Process them in pieces from front to back (`rows`, `ranges`), so that the system can write out and drop finished pages.
Temporary files are in Python's folder for them (TMPDIR), and are removed with their arrays.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from typing import IO

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.memory import PROGRAM, format_memory, parse_memory

_SPARE = 1 << 22  # bytes at the end of arrays in memory that grow


class Scratch:
    """Storage for arrays: temporary files if `memory`, a number of bytes, is given; otherwise memory.

    `limit` is the total number of bytes that the process may use, None without a limit.

    >>> scratch = Scratch(memory=1 << 20)
    >>> array = scratch.array((2, 3), np.uint32)
    >>> array[:] = 1
    >>> int(array.sum())
    6
    >>> list(scratch.rows(5, row_bytes=1 << 19)), list(Scratch().rows(5, row_bytes=1 << 19))
    ([slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)], [slice(0, 5, None)])
    """

    def __init__(self, memory: int | None = None, limit: int | None = None) -> None:
        self.memory, self.limit = memory, limit

    def check_room(self, n_bytes: int, what: str, otherwise: str) -> None:
        """Raise an error if `n_bytes`, needed in memory at once, do not fit; `otherwise` is the advice in its message.

        >>> Scratch(limit=160 << 20).check_room(80 << 20, "the model", "split it")
        Traceback (most recent call last):
        hyperbaton.base.errors.OptionError: --memory 160M: the model needs at least 208M; give it that, or split it
        """
        if self.limit is not None and n_bytes + PROGRAM > self.limit:
            least, given = format_memory(n_bytes + PROGRAM), format_memory(self.limit)
            raise OptionError(f"--memory {given}: {what} needs at least {least}; give it that, or {otherwise}")

    def array(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """A new array, its content undefined."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if self.memory is None or size == 0:  # an empty file cannot be mapped
            return np.empty(shape, dtype)
        with _naming_folder(), _temporary_file() as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, but a crash later
            mapped: Array = np.memmap(file, dtype=dtype, mode="r+", shape=shape)
        return mapped

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """A new array of zeros."""
        array = self.array(shape, dtype)
        array[...] = 0
        return array

    def filled(
        self, shape: int | tuple[int, ...], dtype: npt.DTypeLike, row_bytes: int, make: Callable[[slice], Array]
    ) -> Array:
        """A new array with the rows that `make` returns, in pieces that fit into memory if a row takes `row_bytes`.

        >>> Scratch(memory=16).filled(5, np.int64, 8, lambda rows: np.arange(rows.start, rows.stop)).tolist()
        [0, 1, 2, 3, 4]
        """
        n = shape if isinstance(shape, int) else shape[0]
        if self.memory is None:
            return np.asarray(make(slice(0, n)), dtype)
        array = self.array(shape, dtype)
        for rows in self.rows(n, row_bytes):
            array[rows] = make(rows)
        return array

    @property
    def room(self) -> Callable[[int], Array] | None:
        """The function that allocates bytes for the core's large arrays; None for memory."""
        return None if self.memory is None else lambda n_bytes: np.asarray(self.array(n_bytes, np.uint8))

    def join(self, pieces: Iterable[Array], dtype: npt.DTypeLike) -> Array:
        """Concatenate pieces, which need not be in memory at the same time."""
        column = Column(self, dtype)
        for piece in pieces:
            column.append(piece)
        return column.finish()

    def release(self, array: Array, rows: slice) -> None:
        """Give back the disk space of rows of an array of this scratch, which must not be read any more.

        Nothing happens in memory, or if the system cannot make holes in files.

        >>> array = Scratch(memory=1).zeros(1 << 20, np.uint8)
        >>> Scratch(memory=1).release(array, slice(0, 1 << 19))
        """
        mapped, page = getattr(array, "_mmap", None), mmap.PAGESIZE
        if mapped is None or not hasattr(mmap, "MADV_REMOVE"):
            return
        start, size = array.ctypes.data - np.frombuffer(mapped, np.uint8, 1).ctypes.data, array[:1].nbytes
        first, last = -(-(start + rows.start * size) // page), (start + rows.stop * size) // page
        if first < last:
            with contextlib.suppress(OSError):
                mapped.madvise(mmap.MADV_REMOVE, first * page, (last - first) * page)

    def select(self, array: Array, keep: npt.NDArray[np.bool_]) -> Array:
        """The rows of an array where `keep` is true."""
        if self.memory is None:
            return array[keep]
        selected = self.array((int(np.count_nonzero(keep)), *array.shape[1:]), array.dtype)
        at = 0
        for rows in self.rows(len(array), array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))):
            piece = array[rows][keep[rows]]
            selected[at : at + len(piece)] = piece
            at += len(piece)
        return selected

    def n_rows(self, row_bytes: int) -> int | None:
        """The number of rows of `row_bytes` that fit into memory at once; None without a limit."""
        return None if self.memory is None else max(1, self.memory // row_bytes)

    def at_most(self, n: int, row_bytes: int) -> int:
        """The number of rows of `row_bytes` that fit into memory at once, no more than n.

        >>> Scratch().at_most(10, 4), Scratch(memory=20).at_most(10, 4)
        (10, 5)
        """
        return min(n, self.n_rows(row_bytes) or n)

    def rows(self, n: int, row_bytes: int) -> Iterator[slice]:
        """Pieces of n rows that fit into memory if a row takes `row_bytes`."""
        step = self.at_most(max(n, 1), row_bytes)
        return (slice(at, min(at + step, n)) for at in range(0, n, step))

    def ranges(self, offsets: npt.NDArray[np.int64], row_bytes: int) -> list[tuple[int, int]]:
        """Ranges of groups that fit into memory, with at least one group each; group g is the rows `offsets[g]` to
        `offsets[g + 1]`.

        >>> Scratch(memory=4).ranges(np.array([0, 2, 3, 9, 10]), row_bytes=1)
        [(0, 2), (2, 3), (3, 4)]
        """
        n, step = len(offsets) - 1, self.n_rows(row_bytes)
        if step is None:
            return [(0, n)] if n else []
        ranges, begin = [], 0
        while begin < n:
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + step, side="right")) - 1)
            ranges.append((begin, end))
            begin = end
        return ranges


def forget(*arrays: Array) -> None:
    """Take the pages of memory-mapped arrays out of this process; they are read from their files when needed again.

    >>> array = Scratch(memory=1).zeros(4, np.uint8)
    >>> forget(array, np.zeros(1)), array.tolist()
    (None, [0, 0, 0, 0])
    """
    for array in arrays:
        if isinstance(mapped := getattr(array, "_mmap", None), mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


class Column:
    """An array that grows at its end; on disk if its scratch is."""

    def __init__(self, scratch: Scratch, dtype: npt.DTypeLike) -> None:
        self._dtype, self._n = np.dtype(dtype), 0
        self._first: Array | None = None  # as long as there is no other piece
        self._own: Array | None = None  # all pieces, with room at the end
        with _naming_folder():
            self._file = None if scratch.memory is None else _temporary_file()
        self._shape: tuple[int, ...] = ()

    def __len__(self) -> int:
        return self._n

    def append(self, piece: Array) -> None:
        """Add rows."""
        begin, self._n, self._shape = self._n, self._n + len(piece), piece.shape[1:]
        piece = np.ascontiguousarray(piece, self._dtype)
        if self._file is not None:
            if piece.size:
                with _naming_folder():
                    self._file.write(piece.reshape(-1).view(np.uint8).data)
        elif begin == 0:
            self._first = piece
        else:
            self._grow(begin)[begin : self._n] = piece

    def _grow(self, n: int) -> Array:
        """The array in memory, with room for all rows, of which n are there."""
        if self._own is None:
            self._own = np.empty((n, *self._shape), self._dtype)
            self._own[:] = self._first
            self._first = None
        if len(self._own) < self._n:
            # Growing copies a small array, so it should be rare; the pages of a large array are moved.
            spare = min(n, _SPARE // max(self._own[:1].nbytes, 1))
            self._own.resize((self._n + spare, *self._shape), refcheck=False)
        return self._own

    def finish(self) -> Array:
        """Return the whole array; nothing can be added afterwards."""
        shape = (self._n, *self._shape)
        if self._file is None:
            if self._own is None:
                return np.empty(shape, self._dtype) if self._first is None else self._first
            self._own.resize(shape, refcheck=False)
            return self._own
        with _naming_folder(), self._file as file:
            file.flush()
            return np.memmap(file, self._dtype, "r+", 0, shape) if np.prod(shape) else np.empty(shape, self._dtype)


def _temporary_file() -> IO[bytes]:
    from tempfile import TemporaryFile  # imported here: most work stays in memory

    return TemporaryFile(prefix="hyperbaton-")


@contextlib.contextmanager
def _naming_folder() -> Iterator[None]:
    """Name the folder of temporary files in system errors, which contain only a number."""
    try:
        yield
    except OSError as error:
        from tempfile import tempdir

        folder = tempdir or "no folder for temporary files"
        advice = "set TMPDIR to a folder with more room, or give more --memory"
        raise HyperbatonError(
            f"{folder}: temporary files cannot be written: {error.strerror or error}; {advice}"
        ) from error


def limited(memory: str | int | None) -> Scratch:
    """The scratch of a process with a limit on its total memory, or without one.

    Half of the memory is for pieces of arrays, the rest for the program, vocabularies and buffers.
    """
    if memory is None:
        return Scratch()
    limit = parse_memory(memory)
    return Scratch(limit // 2, limit)
