"""The page as one file: HTML, styles and scripts with the data of a run inside; nothing is fetched.

The files are in `files/`: `page.html` is the frame, `*.css` the styles, `*.js` code shared by the views, `views/*.js` one
view each. The data are JSON, compressed with gzip and encoded in base64, which browsers decode.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path

from hyperbaton.base.forms import Json
from hyperbaton.base.store import writing_file


def page(data: Mapping[str, Json] | None = None, server: Mapping[str, Json] | None = None) -> str:
    """The page as HTML.

    Arguments:
        data: the result of `collect`; without it the page starts empty and needs a server.
        server: settings of the service whose start page this is: `key`, whether requests need an API key, and `limit`,
        the largest number of characters in a request. Without it the page is a standalone file, which says where a server
        is needed.
    """
    folder = files(__package__).joinpath("files")
    text = folder.joinpath("page.html").read_text(encoding="utf-8")
    title = data["title"] if data is not None else "hyperbaton"
    inserted = {
        "title": html.escape(title),
        "styles": styles(),
        "links": "" if server is None else ' <a href="docs">Interface for programs</a>',
        "settings": _safe(json.dumps({"server": server}, ensure_ascii=False)),
        "data": "" if data is None else _packed(data),
        "scripts": "\n".join(part.read_text(encoding="utf-8") for part in _scripts(folder)),
    }
    pieces = text.split("{{")
    rest = (piece.partition("}}") for piece in pieces[1:])
    return pieces[0] + "".join(inserted[name] + behind for name, _, behind in rest)


def styles() -> str:
    """The style sheets of the page, for related pages."""
    folder = files(__package__).joinpath("files")
    return "\n".join(part.read_text(encoding="utf-8") for part in _parts(folder, ".css"))


def write_page(path: str | PathLike[str], data: Mapping[str, Json]) -> None:
    """Write the page of a run."""
    with writing_file(Path(path)) as aside:
        aside.write_text(page(data), encoding="utf-8")


def _parts(folder: Traversable, suffix: str) -> list[Traversable]:
    return sorted((part for part in folder.iterdir() if part.name.endswith(suffix)), key=lambda part: part.name)


def _scripts(folder: Traversable) -> list[Traversable]:
    """The shared scripts, then the views, then the code that starts them."""
    shared = _parts(folder, ".js")
    views = _parts(folder.joinpath("views"), ".js")
    start = [part for part in shared if part.name == "start.js"]
    return [part for part in shared if part.name != "start.js"] + views + start


def _packed(data: Mapping[str, Json]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _safe(text: str) -> str:
    """JSON that is safe inside a script element."""
    return text.replace("<", "\\u003c")
