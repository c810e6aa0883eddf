"""A model on disk: one artefact, read whole and checked when it is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, TypeVar, cast, overload

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.forms import Json, JsonObject, Layout
from hyperbaton.base.store import Arrays, Artefact, Kind, StoredItems, read_artefact, save
from hyperbaton.models._registry import MODELS

if TYPE_CHECKING:
    from hyperbaton.models.shapes.base import ReorderingModel

M = TypeVar("M", bound="ReorderingModel")
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


@overload
def load_model(path: str | PathLike[str]) -> ReorderingModel: ...
@overload
def load_model(path: str | PathLike[str], shape: type[M]) -> M: ...
def load_model(path: str | PathLike[str], shape: type[ReorderingModel] | None = None) -> ReorderingModel:
    """Open a saved model of any kind, or one of a shape, such as `OrientationModel`."""

    def read(artefact: Artefact) -> ReorderingModel:
        state = model_state(artefact)
        cls = MODELS[state.name]
        if shape is not None and not issubclass(cls, shape):
            raise ArtefactError(f"{path}: expected {with_article(shape.__name__)}, found the model {state.name}")
        return cls.restored(state)

    return read_artefact(path, STORED, read, content=True)
