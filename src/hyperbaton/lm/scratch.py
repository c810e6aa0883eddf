"""Arrays that may be larger than memory: in memory while they fit, otherwise in temporary files that are memory-mapped.

Whoever works on them goes through them from front to back, so that the system can write out and drop what is done.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt


class Scratch:
    """Room for arrays while a block of code runs.

    >>> with Scratch(on_disk=True) as scratch:
    ...     array = scratch.array((2, 3), np.uint32)
    ...     array[:] = 1
    ...     int(array.sum())
    6
    """

    def __init__(self, on_disk: bool) -> None:
        self.on_disk = on_disk

    def __enter__(self) -> Scratch:
        self._folder = tempfile.TemporaryDirectory(prefix="hyperbaton-") if self.on_disk else None
        self._n_files = 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def array(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A new array, its content undefined."""
        if self._folder is None or not np.prod(shape):  # an empty file cannot be mapped
            return np.empty(shape, dtype)
        self._n_files += 1
        path = Path(self._folder.name) / str(self._n_files)
        mapped: npt.NDArray[Any] = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
        path.unlink()  # the file lives as long as the array
        return mapped

    def keep(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same array, out of memory if need be."""
        if self._folder is None:
            return array
        kept = self.array(array.shape, array.dtype)
        kept[:] = array
        return kept
