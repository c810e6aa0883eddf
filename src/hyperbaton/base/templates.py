"""Pages from Jinja templates: every value that is put into one is escaped, unless it is marked as HTML."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def environment(package: str, **filters: Callable[..., Any]) -> Environment:
    """The templates in the folder `templates` of a package; each is compiled once."""
    loader = PackageLoader(package)
    templates = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= filters
    return templates
