"""Evaluation of models on held-out text, and explanations of what they have learned.

`evaluate` and `explain` are generic functions; every shape of model registers its implementation in a separate file.
"""

# Imported for registering implementations of evaluate and explain.
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
