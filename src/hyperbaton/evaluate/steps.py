"""How well a step model predicts the paths of held-out sentence pairs, and further figures of single models."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.evaluate.base import Evaluation, HeldOut, evaluation_of
from hyperbaton.evaluate.explain_blocks import explain_blocks
from hyperbaton.models import StepModel
from hyperbaton.models.block_me import BlockMe
from hyperbaton.models.osm import OperationSequence

N_SIBLINGS = 20
_COLUMNS = {  # of a table of models: figure and digits
    "accuracy": ("accuracy", 2),
    "log p": ("mean_logprob", 4),
    "of jumps": ("jump_accuracy", 2),
    "of jumps log p": ("mean_jump_logprob", 4),
    "perplexity": ("perplexity", 2),
}


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
        columns = {title: round(figures[name], digits) for title, (name, digits) in _COLUMNS.items() if name in figures}
        return {"n": self.n, **columns}


@evaluation_of.register
def _of_steps(model: StepModel, held_out: HeldOut) -> StepEvaluation:
    columns = model.path_scores(held_out.bitext, held_out.annotations.only(model.reads))
    if len(columns["logprob"]) == 0:
        raise InputError("nothing to predict: no sentence pair has links", held_out.bitext.source.path)
    return StepEvaluation(columns)


@evaluation_of.register
def _(model: OperationSequence, held_out: HeldOut) -> StepEvaluation:
    logprobs = model.operation_logprobs(held_out.bitext)
    perplexity = float(numeric.exp(-logprobs.mean()))
    return replace(_of_steps(model, held_out), details={"operations": len(logprobs), "perplexity": perplexity})


@evaluation_of.register
def _(model: BlockMe, held_out: HeldOut) -> StepEvaluation:
    return replace(_of_steps(model, held_out), details={"features": model.n_features, "siblings": _siblings(model)})


def _siblings(model: BlockMe) -> list[dict[str, object]]:
    """The most frequent features about parse siblings, with tags if there are such: XI11 Table 5, else Table 1."""
    family = next((f for f in ("sibling-tag", "sibling-word") if f in model.asked_), None)
    if family is None:
        return []
    shown = ("count", "weight", "jump", "target", "source", "node", "coverage", "orientation")
    features = [asdict(f) for f in explain_blocks(model, family=family, top=N_SIBLINGS, sort="count")]
    return [{name: feature["alpha" if name == "weight" else name] for name in shown} for feature in features]
