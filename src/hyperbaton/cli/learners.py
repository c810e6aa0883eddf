"""The command `learners`."""

from __future__ import annotations

from hyperbaton.cli import Json
from hyperbaton.cli._common import list_plugins
from hyperbaton.learn import LEARNERS

HELP_GROUP = "Phrases and models"


def learners(as_json: Json = False) -> None:
    """List the learners.

    Example:

        hyperbaton learners
    """
    list_plugins(LEARNERS, as_json)
