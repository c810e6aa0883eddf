"""Additional results of evaluating a block model: its size, and its features about parse siblings."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from hyperbaton.evaluate.explain_blocks import explain_blocks
from hyperbaton.evaluate.model import HeldOut, evaluation_of
from hyperbaton.evaluate.steps import StepEvaluation
from hyperbaton.models import StepModel
from hyperbaton.models.block_me import BlockMe

N_SIBLINGS = 20


@evaluation_of.register
def _(model: BlockMe, held_out: HeldOut) -> StepEvaluation:
    steps = cast(StepEvaluation, evaluation_of.dispatch(StepModel)(model, held_out))
    return replace(steps, details={"features": model.n_features, "siblings": _siblings(model)})


def _siblings(model: BlockMe) -> list[dict[str, object]]:
    """The most frequent features about parse siblings, with tags if there are such: XI11 Table 5, else Table 1."""
    family = next((f for f in ("sibling-tag", "sibling-word") if f in model.asked_), None)
    if family is None:
        return []
    shown = ("count", "weight", "jump", "target", "source", "node", "coverage", "orientation")
    features = [f.as_json() for f in explain_blocks(model, family=family, top=N_SIBLINGS, sort="count")]
    return [{name: feature["alpha" if name == "weight" else name] for name in shown} for feature in features]
