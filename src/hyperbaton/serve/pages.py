"""Pages of the service: a translator with two panes, and the description of all paths to read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from markupsafe import Markup

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.templates import environment
from hyperbaton.explore.pages import scripts, settings, styles
from hyperbaton.serve.files import READERS


def translator_page(server: Mapping[str, Json]) -> str:
    """The page as HTML, with the settings of `explore.page`."""
    css, js = (files(__package__).joinpath("templates", f"translator.{kind}").read_text("utf-8") for kind in ("css", "js"))
    template = environment(__package__).get_template("translator.html")
    looks = {"styles": Markup(styles() + css), "scripts": Markup(scripts("base", "common", "server") + js)}
    return template.render(server, **looks, settings=settings(server), files=",".join(READERS))


def reference_page(description: JsonObject, address: str, source: str, target: str) -> str:
    """The description as HTML without scripts: each path with an example for this service, its fields and its answers."""
    template = environment(__package__).get_template("reference.html")

    def filled(command: str) -> str:
        for name, value in (("address", address), ("source", source), ("target", target)):
            command = command.replace(f"{{{name}}}", value)
        return command

    return template.render(description, styles=Markup(styles()), filled=filled)
