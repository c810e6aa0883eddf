"""hyperbaton learns how words and phrases move between languages, and translates with what it learned.

>>> from hyperbaton import Bitext, extract, orientation_set
>>> bitext = Bitext.of(["ta zai jia chi fan"], ["he eats rice at home"], [[(0, 0), (3, 1), (4, 2), (1, 3), (2, 4)]])
>>> samples = extract(bitext, max_length=8)
>>> sorted(set(samples.distance_before.tolist()))
[-2, 0, 4]
"""

from __future__ import annotations

from hyperbaton.base.lazy import names_from

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from typing import Any

    from hyperbaton.base.errors import HyperbatonError
    from hyperbaton.base.store import verify
    from hyperbaton.corpus import Bitext, Links, Text
    from hyperbaton.models import MODELS, load_model
    from hyperbaton.phrases import PhraseTable, Samples, extract, orientation_set
    from hyperbaton.report.picture import show
    from hyperbaton.run.translator import Translator

    __version__: str

__all__ = [
    "MODELS",
    "Bitext",
    "HyperbatonError",
    "Links",
    "PhraseTable",
    "Samples",
    "Text",
    "Translator",
    "__version__",
    "extract",
    "load_model",
    "orientation_set",
    "show",
    "verify",
]

# Each name is imported when it is first asked for: the program starts without any of them, and listens to Ctrl-C before
# they are loaded.
_get = names_from(
    __name__,
    {
        "base.errors": ("HyperbatonError",),
        "base.store": ("verify",),
        "corpus": ("Bitext", "Links", "Text"),
        "models": ("MODELS", "load_model"),
        "phrases": ("PhraseTable", "Samples", "extract", "orientation_set"),
        "report.picture": ("show",),
        "run.translator": ("Translator",),
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hyperbaton")
    if name not in __all__ and not name.startswith("_") and name in _folders():
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    return _get(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_folders()])


def _folders() -> list[str]:
    """The folders of the package that users import from."""
    from pkgutil import iter_modules

    return [found.name for found in iter_modules(__path__) if found.ispkg and found.name not in ("base", "cli")]
