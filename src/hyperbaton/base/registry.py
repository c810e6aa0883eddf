"""The file name is the registry: `orientations/three.py` is the orientation set "three".

A registry looks into one folder of the package, and at entry points of other packages, so that a new plug-in is
one new file. A module is imported only when it is requested by name.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import options_of, parse_settings, settings_of, unknown
from hyperbaton.base.shown import Display

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@cache
def _entry_points(group: str) -> list[EntryPoint]:
    """Search all installed packages, which is slow, once."""
    from importlib.metadata import entry_points  # slow to import too

    return list(entry_points(group=group))


def _canonical(name: str) -> str:
    return name.lower().replace("-", "_")


def _usual(cls: type, default: str) -> list[str]:
    """The settings of a default (`name:option=value`) for options of a class."""
    known = {opt.flag for opt in options_of(cls)}
    return [setting for setting in default.split(":")[1:] if setting.partition("=")[0] in known]


class Registry(Display, Generic[T]):
    """All plug-ins of one kind: classes that derive from `base`, one for each module of a package.

    Arguments:
        kind: the noun for a plug-in in messages; other packages provide theirs in the entry point
            group `hyperbaton.<kind>`.
        package: dotted name of the folder.
        base: the class that each plug-in derives from, or `module:class`, which is imported with the first plug-in.
    """

    def __init__(self, kind: str, package: str, base: type[T] | str) -> None:
        self.kind, self.package, self._base = kind, package, base

    @cached_property
    def base(self) -> type[T]:
        """The class that each plug-in derives from."""
        return pkgutil.resolve_name(self._base) if isinstance(self._base, str) else self._base

    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted(self._files() | {point.name for point in self._points()})

    def _files(self) -> set[str]:
        folder = importlib.import_module(self.package)
        modules = [module for module in pkgutil.iter_modules(folder.__path__) if not module.ispkg]
        return {module.name for module in modules if not module.name.startswith("_")}

    def facts(self) -> dict[str, list[str]]:
        return {f"{self.kind}s": self.names()}

    def _ipython_key_completions_(self) -> list[str]:
        return self.names()

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (_canonical(name) in self._files() or _canonical(name) in self.names())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __getitem__(self, name: str) -> type[T]:
        """The class of that name; `aligned-words` and `aligned_words` are the same name.

        The folder comes first: other packages are searched only for names that it does not have.
        """
        name = _canonical(name)
        imported = f"{self.package}.{name}" in sys.modules and not name.startswith("_")
        if not imported and name not in self._files():  # listing a folder takes longer than scoring a short sentence
            for point in self._points():
                if point.name == name:
                    return self._check(point.load(), name)
            raise OptionError(unknown(self.kind, name, self.names()))
        module = importlib.import_module(f"{self.package}.{name}")
        classes = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, self.base) and value.__module__ == module.__name__
        ]
        if len(classes) != 1:
            raise OptionError(f"{module.__name__} must define exactly one {self.base.__name__}, not {len(classes)}")
        return classes[0]

    def make(self, plugin: str | T, default: str = "") -> T:
        """Make a plug-in from its name and options as text, `name:option=value:option=value`.

        Options set by `default`, a text of the same form, apply too unless they are given; another plug-in takes only those
        that it has. An instance is copied.
        """
        if not isinstance(plugin, str):
            if not isinstance(plugin, self.base):
                raise OptionError(f"not {with_article(self.kind)}: {plugin!r}")
            return copy.copy(plugin)
        name, *settings = plugin.strip().split(":")
        cls = self[name]
        return parse_settings(cls, [*_usual(cls, default), *settings])

    def text(self, plugin: T, default: str = "") -> str:
        """The text that makes a plug-in: its name, and the options that differ from their defaults, or from those that
        `default` sets."""
        cls = type(plugin)
        return ":".join([self.name_of(plugin), *settings_of(plugin, parse_settings(cls, _usual(cls, default)))])

    def name_of(self, plugin: object) -> str:
        """The name of a plug-in: that of its entry point, or of its file."""
        cls = type(plugin)
        folder, _, file = cls.__module__.rpartition(".")
        if folder == self.package:
            return file
        points = (point.name for point in self._points() if point.value == f"{cls.__module__}:{cls.__qualname__}")
        return next(points, file)

    def with_option(self, flag: str) -> list[str]:
        """The names of the plug-ins that have an option; this imports all of them."""
        flag = flag.removeprefix("no-")
        return [name for name in self.names() if any(opt.flag == flag for opt in options_of(self[name]))]

    def describe(self, name: str) -> str:
        """The first line of a plug-in's docstring."""
        doc = self[name].__doc__ or ""
        return doc.strip().partition("\n")[0]

    def _points(self) -> list[EntryPoint]:
        return _entry_points(f"hyperbaton.{self.kind}")

    def _check(self, entry: object, name: str) -> type[T]:
        if not (isinstance(entry, type) and issubclass(entry, self.base)):
            raise OptionError(f"entry point {name!r} of hyperbaton.{self.kind} is not a {self.base.__name__}")
        return entry
