"""Reordering models, one file each: coordinates, features and a learner, answering a decoder.

>>> from hyperbaton.corpus import Bitext
>>> from hyperbaton.models import MODELS
>>> bitext = Bitext.of(["ta chi fan"] * 3, ["he eats rice"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
>>> model = MODELS["lexicalized"](orientations="three").fit(bitext)
>>> model.class_names
('d<0', 'd=0', 'd>0')
"""

from os import PathLike
from typing import TypeVar, overload

from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Artefact, read_artefact
from hyperbaton.models._registry import MODELS
from hyperbaton.models.shapes.base import Questions, ReorderingModel
from hyperbaton.models.shapes.next_position import JumpLogProbs, JumpRows, NextPositionModel
from hyperbaton.models.shapes.orientation import OrientationModel, normalised
from hyperbaton.models.shapes.protocols import PerJump, PerOption, PerStep
from hyperbaton.models.shapes.step import Batch, StepModel, Steps, python_steps
from hyperbaton.models.shapes.store import KIND, STORED, model_state

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
    "normalised",
    "python_steps",
]


M = TypeVar("M", bound=ReorderingModel)


@overload
def load_model(path: str | PathLike[str]) -> ReorderingModel: ...
@overload
def load_model(path: str | PathLike[str], shape: type[M]) -> M: ...
def load_model(path: str | PathLike[str], shape: type[ReorderingModel] = ReorderingModel) -> ReorderingModel:
    """Open a saved model of any kind, or one of a shape, such as `OrientationModel`."""

    def read(artefact: Artefact) -> ReorderingModel:
        state = model_state(artefact)
        cls = MODELS[state.name]
        if not issubclass(cls, shape):
            raise ArtefactError(f"{path}: expected {with_article(shape.__name__)}, found the model {state.name}")
        return cls.restored(state)

    return read_artefact(path, STORED, read, content=True)
