"""The contribution of each feature of a phrase pair to the score of each class, for explanations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.learn import ClusterModel, LinearModel


class Evidence(NamedTuple):
    """The weights that apply to a phrase pair: `weights[i]` (n_classes,) belongs to feature `features[i]`, increasing."""

    features: Array
    weights: Array
    unit_length: bool
    factor: float = 1.0  # factor of this part


def cluster_part(model: ClusterModel, cluster: int, factor: float = 1.0) -> Evidence:
    """The weights of one sub-model."""
    own = slice(model.offsets[cluster], model.offsets[cluster + 1])
    return Evidence(model.features[own], model.weights[own], model.unit_length, factor)


def global_part(model: LinearModel, factor: float = 1.0) -> Evidence:
    """The weights of a global model."""
    return Evidence(np.arange(len(model.weights)), model.weights, model.unit_length, factor)


def contributions(parts: list[Evidence], features: Array, values: Array, constant: int) -> dict[int, Array]:
    """Feature → its contribution to the score of each class; `constant` is the feature that always fires."""
    total: dict[int, Array] = {}
    for part in parts:
        scale = part.factor / np.sqrt((values * values).sum()) if part.unit_length and len(values) else part.factor
        # The constant is not scaled to unit length.
        for feature, value in [*zip(features.tolist(), values * scale, strict=True), (constant, part.factor)]:
            at = int(np.searchsorted(part.features, feature))
            if at < len(part.features) and part.features[at] == feature:
                total[feature] = total.get(feature, 0) + value * part.weights[at]
    return total
