"""The page as one file: our own HTML, styles and scripts, with the data of a run inside; nothing is fetched.

The files stand in `files/`: `page.html` is the frame, `*.css` the look, `*.js` what the views share, `views/*.js` a view
each. The data are JSON, compressed by gzip and written in base64, which browsers undo.
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
from typing import Any

from hyperbaton.base.store import writing_file


def page(data: Mapping[str, Any] | None = None, server: Mapping[str, Any] | None = None) -> str:
    """The page as HTML.

    Arguments:
        data: what `collect` gathered; without it the page begins empty and needs a server.
        server: settings of the service whose start page it is: `key`, whether requests need an API key, and `limit`, the
            characters of a request. Without it the page is a file of its own, which says where a server is needed.
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
    """The style sheets of the page, for pages beside it."""
    folder = files(__package__).joinpath("files")
    return "\n".join(part.read_text(encoding="utf-8") for part in _parts(folder, ".css"))


def write_page(path: str | PathLike[str], data: Mapping[str, Any]) -> None:
    """Write the page of a run."""
    with writing_file(Path(path)) as aside:
        aside.write_text(page(data), encoding="utf-8")


def _parts(folder: Traversable, suffix: str) -> list[Traversable]:
    return sorted((part for part in folder.iterdir() if part.name.endswith(suffix)), key=lambda part: part.name)


def _scripts(folder: Traversable) -> list[Traversable]:
    """What the views share, then the views, then what starts them."""
    shared = _parts(folder, ".js")
    views = _parts(folder.joinpath("views"), ".js")
    start = [part for part in shared if part.name == "start.js"]
    return [part for part in shared if part.name != "start.js"] + views + start


def _packed(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _safe(text: str) -> str:
    """JSON that may stand inside a script element."""
    return text.replace("<", "\\u003c")
