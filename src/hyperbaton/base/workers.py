"""Map a task over the parts of a piece of work, in order: in this process, or with the workers of an executor.

A task is a callable object that holds what all parts need, and is called with one part. Large inputs are shared: tasks of
this process use the object itself; for other workers it is saved once, in a folder that all of them see, and each task
loads it. Parts and small results are sent; large results pass through files. Parts depend on the work alone, and results
come in their order, so every executor gives the same result, even if a task runs twice because its worker was lost.

>>> list(Workers().map(len, ["one", "three"]))
[3, 5]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import numpy as np

from hyperbaton.base.arrays import Array

if TYPE_CHECKING:
    from concurrent.futures import Executor

S = TypeVar("S")
T = TypeVar("T")

AHEAD = 256  # parts that wait for workers or for the results of earlier ones


class Shared(Generic[T]):
    """A large object that all tasks need; when a task is sent to a worker, only the path is."""

    def __init__(self, value: T, path: Path | None, load: Callable[[Path], T]) -> None:
        self._path, self._load = path, load
        self._value: T | None = value

    @property
    def value(self) -> T:
        """The object."""
        if self._value is None:
            self._value = self._load(cast(Path, self._path))
        return self._value

    def __getstate__(self) -> dict[str, object]:
        return {"_path": self._path, "_load": self._load, "_value": None}


@dataclass(frozen=True)
class Workers:
    """The workers of an executor and a folder that all of them can read and write; without an executor, this process.

    `threads` is the number of threads of each task of an executor. `names` collects the host and process of each worker.
    """

    executor: Executor | None = None
    folder: Path | None = None
    threads: int = 1
    names: set[str] = field(default_factory=set, compare=False)

    def size(self, here: int, elsewhere: int) -> int:
        """The number of items of a part: the first one in this process, the second for the tasks of an executor."""
        return here if self.executor is None else elsewhere

    def ranges(self, n_items: int, size: int) -> list[tuple[int, int]]:
        """Ranges of at most `size` items for the tasks of an executor; one range for this process.

        >>> Workers().ranges(5, 2)
        [(0, 5)]
        """
        step = self.size(max(n_items, 1), size)
        return [(begin, min(begin + step, n_items)) for begin in range(0, max(n_items, 1), step)]

    def share(self, value: T, save: Callable[[Path], object], load: Callable[[Path], T]) -> Shared[T]:
        """An object for tasks, with the functions that save and load it."""
        path = None if self.executor is None else _new_folder(self.folder) / "shared"
        if path is not None:
            save(path)
        return Shared(value, path, load)

    def map(self, task: Callable[[S], T], parts: Iterable[S], ahead: int = AHEAD) -> Iterator[T]:
        """Call a task for each part, `ahead` parts at most at a time; yields the results in order."""
        if self.executor is None:
            yield from map(task, parts)
            return
        from hyperbaton.base.ordered import ordered_map  # not needed by this process alone

        for value, worker in ordered_map(self.executor, ahead, partial(_named, task), parts):
            self.names.add(worker)
            yield value

    def map_arrays(self, task: Callable[[S], Mapping[str, Array]], parts: Iterable[S]) -> Iterator[Mapping[str, Array]]:
        """Call a task whose results are named arrays; an executor's pass through files, and are read into memory."""
        if self.executor is None:
            yield from map(task, parts)
            return
        from shutil import rmtree

        for path in self.map(partial(_saved, task, self.folder), parts):
            arrays = load_arrays(path, mapped=False)
            rmtree(path.parent)
            yield arrays


def _named(task: Callable[[S], T], part: S) -> tuple[T, str]:
    return task(part), worker_name()


def worker_name() -> str:
    """Host and process id of this process."""
    import os
    import socket  # slow to import, and only tasks need it

    return f"{socket.gethostname()}:{os.getpid()}"


def _saved(task: Callable[[S], Mapping[str, Array]], folder: Path | None, part: S) -> Path:
    arrays = task(part)
    path = _new_folder(folder) / "arrays"  # a second attempt at the part has another folder
    save_arrays(path, arrays)
    return path


def _new_folder(folder: Path | None) -> Path:
    from tempfile import mkdtemp

    return Path(mkdtemp(dir=folder))


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Save named arrays in a new folder."""
    path.mkdir()
    for name, array in arrays.items():
        np.save(path / f"{name}.npy", array, allow_pickle=False)


def load_arrays(path: Path, *, mapped: bool = True) -> dict[str, Array]:
    """The arrays of a folder, memory-mapped or in memory."""
    return {file.stem: np.load(file, mmap_mode="r" if mapped else None) for file in path.iterdir()}
