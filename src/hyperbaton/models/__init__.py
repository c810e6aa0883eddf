"""Reordering models, one file each: coordinates, features and a learner, answering a decoder.

>>> from hyperbaton.corpus import Bitext
>>> from hyperbaton.models import MODELS
>>> bitext = Bitext.of(["ta chi fan"] * 3, ["he eats rice"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
>>> model = MODELS["lexicalized"](orientations="three").fit(bitext)
>>> model.class_names
('d<0', 'd=0', 'd>0')
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from
from hyperbaton.base.registry import Registry
from hyperbaton.base.store import Artefact, read_artefact
from hyperbaton.models.shapes.store import KIND, STORED, model_state

if TYPE_CHECKING:
    from hyperbaton.models.shapes.base import Questions, ReorderingModel
    from hyperbaton.models.shapes.batch import Batch
    from hyperbaton.models.shapes.next_position import JumpLogProbs, JumpRows, NextPositionModel
    from hyperbaton.models.shapes.orientation import OrientationModel, normalised
    from hyperbaton.models.shapes.protocols import PerJump, PerOption, PerStep
    from hyperbaton.models.shapes.step import StepModel, Steps, python_steps
else:
    __getattr__ = names_from(
        __name__,
        {
            "shapes.base": ("Questions", "ReorderingModel"),
            "shapes.batch": ("Batch",),
            "shapes.next_position": ("JumpLogProbs", "JumpRows", "NextPositionModel"),
            "shapes.orientation": ("OrientationModel", "normalised"),
            "shapes.protocols": ("PerJump", "PerOption", "PerStep"),
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
    "normalised",
    "python_steps",
]

MODELS: Registry[ReorderingModel] = Registry("model", "hyperbaton.models", "hyperbaton.models.shapes.base:ReorderingModel")


def load_model(path: str | PathLike[str]) -> ReorderingModel:
    """Open a saved model of any kind."""

    def read(artefact: Artefact) -> ReorderingModel:
        state = model_state(artefact)
        return MODELS[state.name].restored(state)

    return read_artefact(path, STORED, read, content=True)
