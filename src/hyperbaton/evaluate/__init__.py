"""How good models are on text they have not seen."""

from hyperbaton.evaluate.classification import Classification, evaluate_model
from hyperbaton.evaluate.repeats import paired_test, summarize

__all__ = ["Classification", "evaluate_model", "paired_test", "summarize"]
