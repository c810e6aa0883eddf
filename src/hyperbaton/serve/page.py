"""The page at `/`: the page of `hyperbaton explore`, connected to the service instead of a run."""

from __future__ import annotations

from hyperbaton.explore import page as explore_page
from hyperbaton.serve.service import Service


def page(service: Service) -> str:
    """The page of a service, as HTML."""
    return explore_page(server={"key": service.keys.are_needed, "limit": service.limits.max_characters})
