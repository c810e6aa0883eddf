"""The command `metrics`."""

from __future__ import annotations

from hyperbaton.cli import Json
from hyperbaton.cli._common import list_plugins
from hyperbaton.metrics import METRICS

HELP_GROUP = "Translate"


def metrics(as_json: Json = False) -> None:
    """List the metrics.

    Example:

        hyperbaton metrics
    """
    list_plugins(METRICS, as_json)
