"""Pages from Jinja templates: every value that is put into one is escaped, unless it is marked as HTML."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable
from functools import cache
from json import dumps
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from hyperbaton.base.forms import Json


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


def packed(data: Json) -> str:
    """Data for a page: JSON, compressed with gzip and encoded in base64, which browsers decode."""
    text = dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
