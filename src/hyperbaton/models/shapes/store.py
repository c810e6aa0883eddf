"""A model on disk: one artefact, read whole and checked when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.forms import Json
from hyperbaton.base.store import Artefact, Kind, StoredItems, read_artefact
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
    """The content of a saved model; its arrays are memory-mapped."""

    artefact: Artefact
    arrays: StoredItems[Array]

    @classmethod
    def of(cls, artefact: Artefact) -> ModelState:
        """The content of an opened artefact."""
        arrays = artefact.arrays()
        arrays.update({name: np.asarray(array) for name, array in arrays.items()})
        return cls(artefact, arrays)

    @property
    def details(self) -> StoredItems[Json]:
        """The details of its manifest."""
        return self.artefact.details

    def group(self, prefix: str) -> StoredItems[Array]:
        """The arrays whose names start with `prefix.`, by the rest of the name."""
        return self.arrays.group(prefix)


@overload
def load_model(path: str | PathLike[str]) -> ReorderingModel: ...
@overload
def load_model(path: str | PathLike[str], shape: type[M]) -> M: ...
def load_model(path: str | PathLike[str], shape: type[ReorderingModel] | None = None) -> ReorderingModel:
    """Open a saved model of any kind, or one of a shape, such as `OrientationModel`."""

    def read(artefact: Artefact) -> ReorderingModel:
        name = artefact.details["model"]
        cls = MODELS[name]
        if shape is not None and not issubclass(cls, shape):
            raise ArtefactError(f"{path}: expected {with_article(shape.__name__)}, found the model {name}")
        return cls.restored(ModelState.of(artefact))

    return read_artefact(path, STORED, read, content=True)
