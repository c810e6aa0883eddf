"""Evaluation of models on held-out text, and explanations of what they have learned.

`evaluate` and `explain` are generic functions; every shape of model registers its implementation in a separate file.
"""

# Imported for registering implementations of evaluate and explain.
from hyperbaton.evaluate import explain_blocks, explain_jumps, explain_rules
from hyperbaton.evaluate.audit import Audit, AuditedSentence, audit
from hyperbaton.evaluate.base import Evaluation, HeldOut
from hyperbaton.evaluate.classification import Classification
from hyperbaton.evaluate.explain import Answer, Question, explain
from hyperbaton.evaluate.model import evaluate
from hyperbaton.evaluate.next_position import NextPositions
from hyperbaton.evaluate.steps import StepEvaluation
from hyperbaton.evaluate.word_order import OrderQuality, order_quality

__all__ = [
    "Answer",
    "Audit",
    "AuditedSentence",
    "Classification",
    "Evaluation",
    "HeldOut",
    "NextPositions",
    "OrderQuality",
    "Question",
    "StepEvaluation",
    "audit",
    "evaluate",
    "explain",
    "explain_blocks",
    "explain_jumps",
    "explain_rules",
    "order_quality",
]
