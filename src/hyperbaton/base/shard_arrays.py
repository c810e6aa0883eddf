"""Named arrays in the folder of shards: tasks write some, and map those of others into memory.

A name has two parts, of what (`shard.3`, `merged.0`) and which array; each array is a .npy file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.executors import part_files, writing_parts

Array = npt.NDArray[Any]


def write_arrays(folder: Path, owner: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays, which appear when all of them are complete."""
    with writing_parts(folder, owner, list(arrays)) as files:
        for name, array in arrays.items():
            np.save(files[name], array, allow_pickle=False)


def read_array(folder: Path, owner: str, name: str) -> Array:
    """One array, memory-mapped."""
    path = part_files(folder, owner, [name])[name]
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape = read_header(file)[0]
    # An empty file cannot be mapped.
    array: Array = np.load(path, mmap_mode="r" if np.prod(shape) else None, allow_pickle=False)
    return array


def remove_arrays(folder: Path, owner: str, names: Sequence[str]) -> None:
    """Remove arrays that nobody needs any more."""
    for path in part_files(folder, owner, names).values():
        path.unlink(missing_ok=True)
