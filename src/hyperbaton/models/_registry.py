"""The registry of models; `_registry.pyi` tells type checkers the class of each."""

from hyperbaton.base.registry import Registry

MODELS: Registry[object] = Registry("model", "hyperbaton.models", "hyperbaton.models.shapes.base:ReorderingModel")
