"""Lazy imports: a package's names are imported when they are first used, so that a command loads only the code it needs.

Nothing is imported here: the program listens to Ctrl-C before anything else is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def names_from(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `homes` maps each of its modules to the names that it provides.

    `dir` of the package lists its `__all__` alone.

    >>> from hyperbaton import align
    >>> align.visit_order.__module__
    'hyperbaton.align.visits'
    """
    import sys

    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    module = vars(sys.modules[package])
    module["__dir__"] = lambda: sorted(module["__all__"])
    return get
