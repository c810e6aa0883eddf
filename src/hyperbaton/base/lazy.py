"""Lazy imports: a package's names are imported when they are first used, so that a command loads only the code it needs.

This module imports nothing that Python has not loaded at start-up: the program must handle Ctrl-C before anything else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class LazyNames:
    """The public names of a package, imported when they are first used.

    The package lists them once, for type checkers, as lines of the form `from module import name as name` under
    `if TYPE_CHECKING:`. They are read from its source when one is asked for. The package gets its `__all__`, and `dir`
    lists nothing else.

    Arguments:
        module: the `globals()` of the package.
        own: public names that the package defines itself.

    >>> from hyperbaton import align
    >>> align.visit_order.__module__, "visit_order" in dir(align)
    ('hyperbaton.align.visits', True)
    """

    def __init__(self, module: dict[str, Any], own: Sequence[str] = ()) -> None:
        self._module, self._own = module, own
        self._homes: dict[str, str] = {}
        module |= {"__dir__": self.public, "__getattr__": self.get}

    def homes(self) -> dict[str, str]:
        """The module of each name."""
        if not self._homes:
            source = self._module["__loader__"].get_data(self._module["__file__"]).decode()
            lines = (line.split() for line in source.splitlines() if line.startswith("    from ") and " as " in line)
            self._homes = {name: module for _, module, _, name, _, _ in lines}
        return self._homes

    def public(self) -> list[str]:
        """The names in alphabetical order; the package's `__dir__` and `__all__`."""
        return sorted([*self.homes(), *self._own])

    def get(self, name: str) -> Any:
        """Import a name; the package's `__getattr__`."""
        if name == "__all__":
            return self.public()
        if name not in self.homes():
            raise AttributeError(f"module {self._module['__name__']!r} has no attribute {name!r}")
        import importlib

        value = self._module[name] = getattr(importlib.import_module(self._homes[name]), name)
        return value
