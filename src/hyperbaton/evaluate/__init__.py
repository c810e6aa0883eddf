"""How good models are on text they have not seen."""

from hyperbaton.evaluate.blocks import BlockSteps, evaluate_blocks
from hyperbaton.evaluate.classification import Classification, evaluate_model
from hyperbaton.evaluate.next_position import NextPositions, evaluate_jumps
from hyperbaton.evaluate.repeats import paired_test, summarize

__all__ = [
    "BlockSteps",
    "Classification",
    "NextPositions",
    "evaluate_blocks",
    "evaluate_jumps",
    "evaluate_model",
    "paired_test",
    "summarize",
]
