"""The command `models`."""

from __future__ import annotations

from hyperbaton.cli import Json
from hyperbaton.cli._common import list_plugins
from hyperbaton.models import MODELS

HELP_GROUP = "Phrases and models"


def models(as_json: Json = False) -> None:
    """List the reordering models.

    Example:

        hyperbaton models
    """
    list_plugins(MODELS, as_json)
