"""A model on disk: one artefact, read whole and checked when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.store import Arrays, Artefact, group, save

KIND = "reordering-model"


@dataclass(frozen=True)
class ModelState:
    """What a saved model holds."""

    artefact: Artefact
    name: str
    options: dict[str, Any]
    details: dict[str, Any]
    inputs: dict[str, str]
    seed: int
    arrays: dict[str, npt.NDArray[Any]]

    def group(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays whose names start with `prefix.`, by the rest of the name."""
        return group(self.arrays, prefix)


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
    save(path, KIND, arrays, options=options, inputs=inputs, seed=seed, details={**details, "model": name})


def open_model(path: str | PathLike[str]) -> ModelState:
    """Open a saved model, memory-mapped, every array checked."""
    artefact = Artefact(path, KIND, content=True)
    manifest, details = artefact.manifest, artefact.details
    arrays = {name: np.asarray(array) for name, array in artefact.arrays().items()}
    name = str(details.get("model"))
    return ModelState(artefact, name, artefact.options, details, manifest["inputs"], manifest["seed"], arrays)
