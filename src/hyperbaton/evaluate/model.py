"""Evaluation of a model on held-out text, with an implementation for every shape of model.

>>> from hyperbaton.data import generate
>>> from hyperbaton.models import MODELS
>>> parts = generate(120, seed=1).bitext.split({"train": 100, "test": 20})
>>> model = MODELS["linear_jump"]().fit(parts["train"])
>>> evaluation = evaluate(model, HeldOut(parts["test"]))
>>> evaluation.shape, evaluation.as_json()["n"] > 100
('next_position', True)
"""

from __future__ import annotations

from typing import overload

from hyperbaton.evaluate.base import Evaluation, HeldOut, evaluation_of
from hyperbaton.evaluate.classification import Classification
from hyperbaton.evaluate.next_position import NextPositions
from hyperbaton.evaluate.steps import StepEvaluation
from hyperbaton.models import NextPositionModel, OrientationModel, ReorderingModel, StepModel


@overload
def evaluate(model: OrientationModel, held_out: HeldOut) -> Classification: ...
@overload
def evaluate(model: NextPositionModel, held_out: HeldOut) -> NextPositions: ...
@overload
def evaluate(model: StepModel, held_out: HeldOut) -> StepEvaluation: ...
@overload
def evaluate(model: ReorderingModel, held_out: HeldOut) -> Evaluation: ...
def evaluate(model: ReorderingModel, held_out: HeldOut) -> Evaluation:
    """Predict the movements of held-out text with a model, and compare them with its links."""
    return evaluation_of(model, held_out)
