"""How well a step model predicts the paths of held-out sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.evaluate.model import Evaluation, HeldOut, evaluation_of
from hyperbaton.models import StepModel


@dataclass(frozen=True)
class StepEvaluation(Evaluation):
    """Columns over the steps of held-out paths, as returned by `StepModel.path_scores`, and further results of the
    model."""

    columns: dict[str, Array]
    details: JsonObject = field(default_factory=dict)

    shape: ClassVar = "step"
    figure: ClassVar = "accuracy"
    predicts: ClassVar = "steps"

    @property
    def n(self) -> int:
        """Number of steps."""
        return len(self.columns["logprob"])

    def as_json(self) -> JsonObject:
        """The percentage of steps that no other step beats, and their mean log-probability.

        If the model distinguishes jumps (`jump`, `jump_right`, `jump_logprob`), also these values for jumps alone, and
        `accuracy_by_jump`: percentage of jumps predicted, by the jump made.
        """
        figures: JsonObject = {
            "n": self.n,
            "accuracy": 100 * float(self.columns["right"].mean()),
            "mean_logprob": float(self.columns["logprob"].mean()),
        }
        if "jump" in self.columns:
            jumps, right = self.columns["jump"].astype(np.int64), self.columns["jump_right"]
            by_jump = {str(j): 100 * float(right[jumps == j].mean()) for j in sorted(set(jumps.tolist()))}
            figures |= {
                "jump_accuracy": 100 * float(right.mean()),
                "mean_jump_logprob": float(self.columns["jump_logprob"].mean()),
                "accuracy_by_jump": by_jump,
            }
        return figures | self.details

    def row(self) -> JsonObject:
        figures = self.as_json()
        jumps = {}
        if "jump_accuracy" in figures:
            jumps = {
                "of jumps": round(figures["jump_accuracy"], 2),
                "of jumps log p": round(figures["mean_jump_logprob"], 4),
            }
        return {
            "n": self.n,
            "accuracy": round(figures["accuracy"], 2),
            "log p": round(figures["mean_logprob"], 4),
            **jumps,
            **({"perplexity": round(figures["perplexity"], 2)} if "perplexity" in figures else {}),
        }


@evaluation_of.register
def _(model: StepModel, held_out: HeldOut) -> StepEvaluation:
    columns = model.path_scores(held_out.bitext, held_out.annotations.only(model.reads))
    if len(columns["logprob"]) == 0:
        raise InputError("nothing to predict: no sentence pair has links", held_out.bitext.source.path)
    return StepEvaluation(columns)
