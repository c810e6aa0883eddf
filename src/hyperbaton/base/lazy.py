"""Lazy imports: a package's names are imported when they are first used, so that a command loads only the code it needs.

This module imports nothing that Python has not loaded at start-up: the program must handle Ctrl-C before anything else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class LazyNames:
    """The public names of a package, imported when they are first used: those that it imports for type checkers.

    They are read from the lines `from hyperbaton.… import NAME as NAME` under its `if TYPE_CHECKING:`. The package gets its
    `__all__`, and `dir` lists nothing else.

    Arguments:
        module: the `globals()` of the package.
        own: public names that the package defines itself.

    >>> from hyperbaton import align
    >>> align.visit_order.__module__, "visit_order" in dir(align)
    ('hyperbaton.align.visits', True)
    """

    def __init__(self, module: dict[str, Any], own: Sequence[str] = ()) -> None:
        lines = module["__loader__"].get_source(module["__name__"]).splitlines()
        imports = (line.split() for line in lines if line.startswith("    from hyperbaton."))
        self.homes = {words[-1]: words[1] for words in imports if words[2:-1] == ["import", words[-1], "as"]}
        self._module = module
        module |= {"__all__": sorted([*self.homes, *own]), "__dir__": self.public, "__getattr__": self.get}

    def public(self) -> list[str]:
        """The names in alphabetical order; the package's `__dir__`."""
        return list(self._module["__all__"])

    def get(self, name: str) -> Any:
        """Import a name; the package's `__getattr__`."""
        if name not in self.homes:
            raise AttributeError(f"module {self._module['__name__']!r} has no attribute {name!r}")
        import importlib

        value = self._module[name] = getattr(importlib.import_module(self.homes[name]), name)
        return value
