"""How good models are on text they have not seen, and what they have learned.

`evaluate` and `explain` are one function each; every shape of model registers its own way in its own file.
"""

# What registers ways to evaluate and explain is imported for that.
from hyperbaton.evaluate import block_me, explain_blocks, explain_jumps, explain_rules, explain_steps, osm
from hyperbaton.evaluate.classification import Classification
from hyperbaton.evaluate.explain import Answer, Question, explain
from hyperbaton.evaluate.model import Evaluation, HeldOut, evaluate
from hyperbaton.evaluate.next_position import NextPositions
from hyperbaton.evaluate.orders import OrderQuality, order_quality
from hyperbaton.evaluate.repeats import paired_test, summarize
from hyperbaton.evaluate.steps import StepEvaluation

__all__ = [
    "Answer",
    "Classification",
    "Evaluation",
    "HeldOut",
    "NextPositions",
    "OrderQuality",
    "Question",
    "StepEvaluation",
    "block_me",
    "evaluate",
    "explain",
    "explain_blocks",
    "explain_jumps",
    "explain_rules",
    "explain_steps",
    "order_quality",
    "osm",
    "paired_test",
    "summarize",
]
