"""Lazy imports: a package's names are imported when they are first used, so that a command loads only the code it needs.

This module imports nothing that Python has not loaded at start-up: the program must handle Ctrl-C before anything else.
"""

from __future__ import annotations

import _thread
import builtins

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self


_LOCK = _thread.allocate_lock()  # threads may import packages at the same time


class LazyNames:
    """The public names of a package: imports inside `with LazyNames(globals()):` happen when a name is first used.

    They must have the form `from module import name as name`, by which type checkers know that a name is public. The
    package gets its `__all__`, and `dir` lists nothing else.

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

    def __enter__(self) -> Self:
        _LOCK.acquire()
        self._import = builtins.__import__
        builtins.__import__ = self._note
        return self

    def __exit__(self, *error: object) -> None:
        builtins.__import__ = self._import
        _LOCK.release()
        for name in self._homes:
            self._module.pop(name, None)
        self.public = sorted([*self._homes, *self._own])
        self._module |= {"__all__": self.public, "__dir__": self.public.copy, "__getattr__": self.get}

    def _note(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """Stand in for `__import__`: record where names come from, and return an object that has them."""
        if globals is not self._module:  # in another thread
            return self._import(name, globals, locals, fromlist, level)
        self._homes |= dict.fromkeys(fromlist or (), name)
        return type(name, (), dict.fromkeys(fromlist or ()))

    def get(self, name: str) -> Any:
        """Import a name; the package's `__getattr__`."""
        if name not in self._homes:
            raise AttributeError(f"module {self._module['__name__']!r} has no attribute {name!r}")
        import importlib

        value = self._module[name] = getattr(importlib.import_module(self._homes[name]), name)
        return value
