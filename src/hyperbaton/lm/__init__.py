"""n-gram language models: estimation, ARPA files, and the probability of any text."""

from hyperbaton.lm.estimation import Estimation
from hyperbaton.lm.model import LanguageModel, Perplexity

__all__ = ["Estimation", "LanguageModel", "Perplexity"]
