"""Named arrays in the folder of shards: tasks write some, and read or map those of others.

All arrays of one owner (`shard.3`, `merged.0`) are one file: a table of names, types and places, then the arrays. A task
that needs a piece of every shard's arrays opens the files one after the other, reads the piece and closes the file
(`open_arrays`): it opens one file per shard, one at a time. Arrays with random access are mapped into memory
(`map_arrays`), which keeps their file open as long as one of them is used.

If one process does all the work (`Here`), arrays are kept in memory, and nothing is written.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from itertools import accumulate, pairwise
from math import prod
from pathlib import Path

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.executors import InMemory, part_files, writing_parts
from hyperbaton.base.scratch import Scratch

Folder = Path | InMemory

_PART = "arrays"
_ALIGNMENT = 64  # in bytes, of the start of each array
_LENGTH = 8  # bytes of the number that gives the length of the table


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in an open file; rows are read on demand."""

    file: BufferedReader
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    start: int

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, at: int | slice) -> Array:
        """A row, or consecutive rows, in memory."""
        if not isinstance(at, slice):
            row: Array = self[at : at + 1][0]
            return row
        begin, end, _ = at.indices(len(self))
        rows = np.empty((max(end - begin, 0), *self.shape[1:]), self.dtype)
        self.read(rows, begin)
        return rows

    def read(self, out: Array, begin: int = 0) -> None:
        """Read as many rows as `out` has room for, from row `begin` on."""
        self.file.seek(self.start + begin * prod(self.shape[1:]) * self.dtype.itemsize)
        if self.file.readinto(out.reshape(-1).view(np.uint8).data) != out.nbytes:
            raise EOFError(f"{self.file.name}: the file is too short")


class ArrayFile:
    """The arrays of an owner by name, in an open file."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        length = int.from_bytes(file.read(_LENGTH), "little")
        self._places, self._first = json.loads(file.read(length)), _LENGTH + length

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> StoredArray:
        kind, shape, start = self._places[name]
        return StoredArray(self._file, np.dtype(kind), tuple(shape), self._first + start)


def write_arrays(folder: Folder, owner: str, arrays: Mapping[str, Array]) -> None:
    """Write the arrays of an owner, which appear when all of them are complete."""
    if isinstance(folder, InMemory):
        folder.arrays[owner] = dict(arrays)
        return
    places, at = {}, 0
    for name, array in arrays.items():
        places[name] = array.dtype.str, array.shape, at
        at += array.nbytes + _padding(array.nbytes)
    table = json.dumps(places).encode()
    table += b" " * _padding(_LENGTH + len(table))
    with writing_parts(folder, owner, [_PART]) as files:
        file = files[_PART]
        file.write(len(table).to_bytes(_LENGTH, "little") + table)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            file.write(b"\0" * _padding(array.nbytes))


@contextmanager
def open_arrays(folder: Path, owner: str) -> Iterator[ArrayFile]:
    """The arrays of an owner, to read pieces of."""
    with _path(folder, owner).open("rb") as file:
        yield ArrayFile(file)


def map_arrays(folder: Folder, owner: str) -> dict[str, Array]:
    """The arrays of an owner, memory-mapped."""
    if isinstance(folder, InMemory):
        return folder.arrays[owner]
    with _path(folder, owner).open("rb") as file:
        stored = ArrayFile(file)
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return {name: np.ndarray((a := stored[name]).shape, a.dtype, whole, a.start) for name in stored}


def join_arrays(folder: Folder, owners: Sequence[str], name: str, scratch: Scratch) -> Array:
    """An array of several owners, concatenated; that of a single owner is mapped."""
    if len(owners) == 1 or isinstance(folder, InMemory):
        return map_arrays(folder, owners[0])[name]
    lengths = []
    for owner in owners:
        with open_arrays(folder, owner) as arrays:
            stored = arrays[name]
            lengths.append(len(stored))
    joined = scratch.array((sum(lengths), *stored.shape[1:]), stored.dtype)
    for owner, (begin, end) in zip(owners, pairwise([0, *accumulate(lengths)]), strict=True):
        with open_arrays(folder, owner) as arrays:
            arrays[name].read(joined[begin:end])
    return joined


def has_arrays(folder: Folder, owner: str) -> bool:
    """Whether the arrays of an owner are complete and not removed."""
    return owner in folder.arrays if isinstance(folder, InMemory) else _path(folder, owner).exists()


def remove_arrays(folder: Folder, owner: str) -> None:
    """Remove the arrays of an owner, which are no longer needed."""
    if isinstance(folder, InMemory):
        folder.arrays.pop(owner, None)
    else:
        _path(folder, owner).unlink(missing_ok=True)


def _path(folder: Path, owner: str) -> Path:
    return part_files(folder, owner, [_PART])[_PART]


def _padding(n_bytes: int) -> int:
    return -n_bytes % _ALIGNMENT
