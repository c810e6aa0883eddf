"""Reordering models, one file each.

>>> from hyperbaton.corpus import Bitext
>>> from hyperbaton.models import MODELS
>>> bitext = Bitext.of(["ta chi fan"] * 3, ["he eats rice"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
>>> model = MODELS["lexicalized"](orientations="three").fit(bitext)
>>> model.class_names
('d<0', 'd=0', 'd>0')
"""

from os import PathLike

from hyperbaton.base.registry import Registry
from hyperbaton.base.store import Artefact, read_artefact
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

MODELS: Registry[ReorderingModel] = Registry("model", "hyperbaton.models", ReorderingModel)


def load_model(path: str | PathLike[str]) -> ReorderingModel:
    """Open a saved model of any kind."""

    def read(artefact: Artefact) -> ReorderingModel:
        state = model_state(artefact)
        return MODELS[state.name].restored(state)

    return read_artefact(path, STORED, read, content=True)
