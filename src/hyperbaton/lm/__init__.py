"""n-gram language models: estimation, ARPA files, and the probability of any text."""

from hyperbaton.base.lazy import LazyNames

with LazyNames(globals()):
    from hyperbaton.lm.estimation import Estimation as Estimation
    from hyperbaton.lm.model import LanguageModel as LanguageModel
    from hyperbaton.lm.model import Perplexity as Perplexity
