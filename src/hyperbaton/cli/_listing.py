"""Listings of plug-ins with their descriptions, one line each."""

from __future__ import annotations

from typing import TypeVar

from hyperbaton.base.registry import Registry
from hyperbaton.cli._common import print_json, print_table, say

T = TypeVar("T")


def list_plugins(registry: Registry[T], as_json: bool) -> None:
    """Print the names and descriptions of all plug-ins of one kind."""
    rows = [{"name": name, "about": registry.describe(name)} for name in registry]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows)
    else:
        say(f"no {registry.kind}s installed yet")
