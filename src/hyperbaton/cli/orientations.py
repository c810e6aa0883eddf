"""The command `orientations`."""

from __future__ import annotations

from hyperbaton.cli import Json
from hyperbaton.cli._common import print_table
from hyperbaton.phrases import ORIENTATIONS

HELP_GROUP = "Phrases and models"


def orientations(as_json: Json = False) -> None:
    """List the orientation sets and their classes.

    Moses' sets are word-based; put `phrase-` or `hier-` before the name for phrase-based and hierarchical ones. Any
    increasing list of cut points, such as -4,0,1,5, is an orientation set too.

    Example:

        hyperbaton orientations
    """
    rows = [
        {"name": name, "classes": ", ".join(ORIENTATIONS[name]().names), "about": ORIENTATIONS.describe(name)}
        for name in ORIENTATIONS
    ]
    print_table(rows, as_json)
