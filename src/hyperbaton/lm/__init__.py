"""n-gram language models: estimation, ARPA files, and the probability of any text."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.lm.estimation import Estimation
    from hyperbaton.lm.model import LanguageModel, Perplexity
else:
    __getattr__ = names_from(
        __name__,
        {
            "estimation": ("Estimation",),
            "model": ("LanguageModel", "Perplexity"),
        },
    )


__all__ = ["Estimation", "LanguageModel", "Perplexity"]
