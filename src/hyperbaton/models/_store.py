"""A model on disk: one artefact, every array with a checksum, so that a damaged folder is refused when it is opened."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Arrays, Artefact, save

KIND = "reordering-model"


@dataclass(frozen=True)
class ModelState:
    """What a saved model holds."""

    path: str
    name: str
    options: dict[str, Any]
    details: dict[str, Any]
    inputs: dict[str, str]
    seed: int
    arrays: dict[str, npt.NDArray[Any]]

    def group(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays whose names start with `prefix.`, by the rest of the name."""
        return {n[len(prefix) + 1 :]: array for n, array in self.arrays.items() if n.startswith(f"{prefix}.")}


def save_model(
    path: str | PathLike[str],
    name: str,
    arrays: Arrays,
    *,
    options: dict[str, Any],
    details: dict[str, Any],
    inputs: dict[str, str],
    seed: int,
) -> None:
    """Write a model, all or nothing."""
    checksums = {key: _checksum(array) for key, array in arrays.items()}
    held = {**details, "model": name, "checksums": checksums}
    save(path, KIND, arrays, options=options, inputs=inputs, seed=seed, details=held)


def open_model(path: str | PathLike[str]) -> ModelState:
    """Open a saved model, memory-mapped, every array checked."""
    artefact = Artefact(path, KIND)
    details = artefact.details
    arrays = {}
    for name in artefact.manifest["arrays"]:
        array = artefact[name]
        if details.get("checksums", {}).get(name) != _checksum(array):
            raise ArtefactError(f"{artefact.path / name}.npy: damaged (its checksum differs); train the model again")
        arrays[name] = np.asarray(array)
    manifest = artefact.manifest
    name = str(details.get("model"))
    return ModelState(str(path), name, artefact.options, details, manifest["inputs"], manifest["seed"], arrays)


def _checksum(array: npt.NDArray[Any]) -> int:
    whole = np.ascontiguousarray(array)
    return zlib.crc32(whole.reshape(-1).view(np.uint8).data) if whole.size else 0
