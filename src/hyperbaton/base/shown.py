"""Displays of objects at a prompt and in a notebook."""

from __future__ import annotations

import pkgutil
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, ClassVar

from hyperbaton.base.counted import counted


class Display:
    """A short `repr`, and a table of the same facts in a notebook; a class defines `facts`."""

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """Facts about the object, by name, in a few words each."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(_phrase(name, value) for name, value in self.facts().items())}>"

    def _repr_html_(self) -> str:
        return facts_table(type(self).__name__, self.facts())


class ShowsChanges:
    """Base of data classes of options: their `repr` has only the options that differ from the defaults, as in code."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = ShowsChanges.__repr__  # type: ignore[method-assign]  # not the one that dataclasses make

    def __repr__(self) -> str:
        options: Iterable[Any] = fields(self)  # type: ignore[arg-type]  # derived classes are data classes
        changed = {opt.name: getattr(self, opt.name) for opt in options if getattr(self, opt.name) != opt.default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class Drawing:
    """A picture in a notebook, made by a function of a later folder.

    `drawn_by` is written like an entry point, `module:function`. It is looked up when a notebook asks for the picture, so
    that the object does not depend on the code that draws it. The function returns SVG, or None if there is nothing to
    draw.
    """

    drawn_by: ClassVar[str]

    def _repr_svg_(self) -> str | None:
        return pkgutil.resolve_name(self.drawn_by)(self)


def _phrase(name: str, value: object) -> str:
    """A fact with its name; the name precedes a list."""
    if isinstance(value, list | tuple):
        return f"{name} {fact(value)}" if value else f"no {name}"
    if isinstance(value, int) and not isinstance(value, bool):
        return counted(value, name.removesuffix("s"), name)
    return f"{fact(value)} {name}"


def fact(value: object) -> str:
    """A value in words: numbers with separators, items separated by commas.

    >>> fact(12000), fact(0.5), fact(["LM0", "distance"])
    ('12,000', '0.5', 'LM0, distance')
    """
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(fact, value)) if isinstance(value, Iterable) else str(value)


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """Facts as a small HTML table."""
    from html import escape  # imported here: it has the names of all characters

    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(fact(value))}</td></tr>" for name, value in facts.items())
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
