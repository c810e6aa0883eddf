"""The registry of models; `_registry.pyi` tells type checkers the class of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.registry import Registry

if TYPE_CHECKING:
    from hyperbaton.models.shapes.base import ReorderingModel

MODELS: Registry[ReorderingModel] = Registry("model", "hyperbaton.models", "hyperbaton.models.shapes.base:ReorderingModel")
