"""Open a saved model of any kind; it is read whole and checked when it is opened."""

from __future__ import annotations

from os import PathLike
from typing import TypeVar, overload

from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Artefact, read_artefact
from hyperbaton.models._registry import MODELS
from hyperbaton.models.shapes.base import STORED, ModelState, ReorderingModel

M = TypeVar("M", bound=ReorderingModel)


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
