"""The page at `/`: text in, translation out, with the links between their words. One file, nothing fetched from outside."""

from __future__ import annotations

import html
import json
from importlib.resources import files

from hyperbaton.serve.languages import name_of
from hyperbaton.serve.service import Service


def page(service: Service) -> str:
    """The page of a service, as HTML."""
    pairs = [
        {"source": engine.source, "target": engine.target, "name": f"{name_of(engine.source)} → {name_of(engine.target)}"}
        for engine in service.engines
    ]
    choices = "".join(
        f'<option value="{html.escape(pair["source"])}-{html.escape(pair["target"])}">{html.escape(pair["name"])}</option>'
        for pair in pairs
    )
    settings = json.dumps({"key": service.keys.are_needed, "limit": service.limits.max_characters}).replace("<", "\\u003c")
    template = files("hyperbaton.serve").joinpath("page.html").read_text(encoding="utf-8")
    return template.replace("{{choices}}", choices).replace("{{settings}}", settings)
