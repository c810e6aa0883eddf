"""n-gram language models: estimation, ARPA files, and the probability of any text."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.lm.estimation import Estimation as Estimation
    from hyperbaton.lm.model import LanguageModel as LanguageModel
    from hyperbaton.lm.model import Perplexity as Perplexity

LazyNames(globals())
