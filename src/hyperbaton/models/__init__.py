"""Reordering models, one file each: coordinates, features and a learner, answering a decoder."""

from hyperbaton.base.registry import Registry


class ReorderingModel:
    """Says how likely a movement is."""


MODELS: Registry[ReorderingModel] = Registry("model", "hyperbaton.models", ReorderingModel)
