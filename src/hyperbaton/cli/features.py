"""The command `features`."""

from __future__ import annotations

from hyperbaton.cli import Json
from hyperbaton.cli._common import list_plugins
from hyperbaton.features import FEATURES

HELP_GROUP = "Phrases and models"


def features(as_json: Json = False) -> None:
    """List the feature sets.

    Example:

        hyperbaton features
    """
    list_plugins(FEATURES, as_json)
