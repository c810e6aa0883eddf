"""The page as one file: HTML, styles and scripts with the data of a run inside; nothing is fetched.

The files are in `templates/`: `page.html` is the frame, `*.css` the styles, `*.js` code shared by the views, and
`views/*.js` one view each. The data are JSON, compressed with gzip and encoded in base64, which browsers decode.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from os import PathLike
from pathlib import Path

from markupsafe import Markup

from hyperbaton.base.forms import Json
from hyperbaton.base.templates import environment, packed
from hyperbaton.base.writing import writing_file


def page(data: Mapping[str, Json] | None = None, server: Mapping[str, Json] | None = None) -> str:
    """The page as HTML.

    Arguments:
        data: the result of `collect`; without it the page starts empty and needs a server.
        server: settings of the service whose start page this is: `key`, whether requests need an API key, and `limit`,
        the largest number of characters in a request. Without it the page is a standalone file, which says where a server
        is needed.
    """
    shared = _texts(".js")
    start = shared.pop("start.js")  # starts the views
    template = environment(__package__).get_template("page.html")
    return template.render(
        title=data["title"] if data is not None else "hyperbaton",
        styles=Markup(styles()),
        served=server is not None,
        settings=settings(server),
        data="" if data is None else packed(data),
        scripts=Markup("\n".join([*shared.values(), *_texts(".js", "views").values(), start])),
    )


def settings(server: Mapping[str, Json] | None) -> Markup:
    """The settings for the scripts, safe in a script element."""
    return Markup(json.dumps({"server": server}, ensure_ascii=False).replace("<", "\\u003c"))


def styles() -> str:
    """The style sheets of the page, for related pages."""
    return "\n".join(_texts(".css").values())


def scripts(*names: str) -> str:
    """Scripts that related pages share."""
    return "\n".join(_texts(".js")[f"{name}.js"] for name in names)


def write_page(path: str | PathLike[str], data: Mapping[str, Json]) -> None:
    """Write the page of a run."""
    with writing_file(Path(path)) as aside:
        aside.write_text(page(data), encoding="utf-8")


def _texts(suffix: str, *folder: str) -> dict[str, str]:
    """The templates with a suffix, by name, in the order of their names."""
    parts = files(__package__).joinpath("templates", *folder).iterdir()
    named = {part.name: part for part in parts if part.name.endswith(suffix)}
    return {name: named[name].read_text(encoding="utf-8") for name in sorted(named)}
