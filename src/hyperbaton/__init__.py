"""hyperbaton learns how words and phrases move between languages, and translates with what it learned.

>>> from hyperbaton import Bitext, extract, orientation_set
>>> bitext = Bitext.of(["ta zai jia chi fan"], ["he eats rice at home"], [[(0, 0), (3, 1), (4, 2), (1, 3), (2, 4)]])
>>> samples = extract(bitext, max_length=8)
>>> sorted(set(samples.distance_before.tolist()))
[-2, 0, 4]
"""

from __future__ import annotations

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

# The program starts without any of them, and listens to Ctrl-C before they are loaded.
if TYPE_CHECKING:
    import typing

    from hyperbaton.base.errors import HyperbatonError as HyperbatonError
    from hyperbaton.base.store import verify as verify
    from hyperbaton.corpus import Bitext as Bitext
    from hyperbaton.corpus import Links as Links
    from hyperbaton.corpus import Text as Text
    from hyperbaton.evaluate.audit import audit as audit
    from hyperbaton.models import MODELS as MODELS
    from hyperbaton.models import load_model as load_model
    from hyperbaton.phrases import PhraseTable as PhraseTable
    from hyperbaton.phrases import Samples as Samples
    from hyperbaton.phrases import extract as extract
    from hyperbaton.phrases import orientation_set as orientation_set
    from hyperbaton.report.picture import show as show
    from hyperbaton.run.translator import Translator as Translator

__version__: str

_names = LazyNames(globals(), ["__version__"])


def __getattr__(name: str) -> typing.Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hyperbaton")
    if name not in _names.homes and not name.startswith("_") and name in _folders():
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    return _names.get(name)


def __dir__() -> list[str]:
    return sorted([*_names.public(), *_folders()])


def _folders() -> list[str]:
    """The folders of the package that users import from."""
    from pkgutil import iter_modules

    return [found.name for found in iter_modules(__path__) if found.ispkg and found.name not in ("base", "cli")]
