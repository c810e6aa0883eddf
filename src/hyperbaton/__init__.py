"""hyperbaton learns how words and phrases move between languages, and translates with what it learned.

>>> from hyperbaton import Bitext, extract, orientation_set
>>> bitext = Bitext.of(["ta zai jia chi fan"], ["he eats rice at home"], [[(0, 0), (3, 1), (4, 2), (1, 3), (2, 4)]])
>>> samples = extract(bitext, max_length=8)
>>> sorted(set(samples.distance_before.tolist()))
[-2, 0, 4]
"""

from importlib.metadata import version

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.models import MODELS, load_model
from hyperbaton.phrases import PhraseTable, Samples, extract, orientation_set

__version__ = version("hyperbaton")

__all__ = [
    "MODELS",
    "Bitext",
    "HyperbatonError",
    "Links",
    "PhraseTable",
    "Samples",
    "Text",
    "__version__",
    "extract",
    "load_model",
    "orientation_set",
]
