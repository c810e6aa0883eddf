"""The registry of models; `_registry.pyi` tells type checkers the class of each."""

from hyperbaton.base.registry import Registry
from hyperbaton.models.shapes.base import ReorderingModel

MODELS: Registry[ReorderingModel] = Registry("model", "hyperbaton.models", ReorderingModel)
