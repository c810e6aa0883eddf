"""A model on disk: one artefact, read whole and checked when it is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import cast

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import Json, JsonObject, Layout
from hyperbaton.base.store import Arrays, Artefact, Kind, StoredItems, save

KIND = "reordering-model"
# A model declares its arrays itself (`ReorderingModel.layout`).
_DETAILS = {"model": str, "model_version?": int, "train_seconds": float, "train_peak_mib": float}
STORED = Kind(KIND, about={"seed": int, "inputs": {"bitext": str}, "details": _DETAILS})


@dataclass(frozen=True)
class ModelState:
    """The content of a saved model."""

    artefact: Artefact
    name: str
    options: StoredItems[Json]
    details: StoredItems[Json]
    inputs: dict[str, str]
    seed: int
    arrays: StoredItems[Array]

    def group(self, prefix: str) -> StoredItems[Array]:
        """The arrays whose names start with `prefix.`, by the rest of the name."""
        return self.arrays.group(prefix)


def save_model(
    path: str | PathLike[str],
    name: str,
    arrays: Arrays,
    *,
    options: JsonObject,
    details: JsonObject,
    inputs: dict[str, str],
    seed: int,
    layout: Layout,
) -> None:
    """Write a model, all or nothing."""
    save(
        path,
        replace(STORED, arrays=layout),
        arrays,
        options=options,
        inputs=inputs,
        seed=seed,
        details={**details, "model": name},
    )


def model_state(artefact: Artefact) -> ModelState:
    """The content of an opened artefact, memory-mapped."""
    manifest, details, arrays = artefact.manifest, artefact.details, artefact.arrays()
    arrays.update({name: np.asarray(array) for name, array in arrays.items()})
    return ModelState(
        artefact=artefact,
        name=details["model"],
        options=artefact.options,
        details=details,
        inputs=manifest["inputs"],
        seed=cast("int", manifest["seed"]),
        arrays=arrays,
    )
