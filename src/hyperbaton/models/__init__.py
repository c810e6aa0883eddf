"""Reordering models, one file each.

>>> from hyperbaton.corpus import Bitext
>>> from hyperbaton.models import MODELS
>>> bitext = Bitext.of(["ta chi fan"] * 3, ["he eats rice"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
>>> model = MODELS["lexicalized"](orientations="three").fit(bitext)
>>> model.class_names
('d<0', 'd=0', 'd>0')
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, TypeVar, overload

from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.lazy import names_from
from hyperbaton.base.store import Artefact, read_artefact
from hyperbaton.models._registry import MODELS
from hyperbaton.models.shapes.store import KIND, STORED, model_state

if TYPE_CHECKING:
    from hyperbaton.models.shapes.base import Questions, ReorderingModel
    from hyperbaton.models.shapes.batch import Batch
    from hyperbaton.models.shapes.next_position import JumpLogProbs, JumpRows, NextPositionModel
    from hyperbaton.models.shapes.orientation import OrientationModel, normalised
    from hyperbaton.models.shapes.protocols import PerJump, PerOption, PerStep, needed
    from hyperbaton.models.shapes.step import StepModel, Steps, python_steps
else:
    __getattr__ = names_from(
        __name__,
        {
            "shapes.base": ("Questions", "ReorderingModel"),
            "shapes.batch": ("Batch",),
            "shapes.next_position": ("JumpLogProbs", "JumpRows", "NextPositionModel"),
            "shapes.orientation": ("OrientationModel", "normalised"),
            "shapes.protocols": ("PerJump", "PerOption", "PerStep", "needed"),
            "shapes.step": ("StepModel", "Steps", "python_steps"),
        },
    )


__all__ = [
    "KIND",
    "MODELS",
    "Batch",
    "JumpLogProbs",
    "JumpRows",
    "NextPositionModel",
    "OrientationModel",
    "PerJump",
    "PerOption",
    "PerStep",
    "Questions",
    "ReorderingModel",
    "StepModel",
    "Steps",
    "load_model",
    "needed",
    "normalised",
    "python_steps",
]

M = TypeVar("M", bound="ReorderingModel")


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
