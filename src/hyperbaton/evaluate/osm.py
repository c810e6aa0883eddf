"""Additional result of evaluating an operation sequence model: the perplexity of held-out operations."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from hyperbaton.base import numeric
from hyperbaton.evaluate.model import HeldOut, evaluation_of
from hyperbaton.evaluate.steps import StepEvaluation
from hyperbaton.models import StepModel
from hyperbaton.models.osm import OperationSequence


@evaluation_of.register
def _(model: OperationSequence, held_out: HeldOut) -> StepEvaluation:
    steps = cast(StepEvaluation, evaluation_of.dispatch(StepModel)(model, held_out))
    logprobs = model.operation_logprobs(held_out.bitext)
    perplexity = float(numeric.exp(-logprobs.mean()))
    return replace(steps, details={"operations": len(logprobs), "perplexity": perplexity})
