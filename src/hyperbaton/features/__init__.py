"""Feature sets, one file each: what a model sees of a sample or a jump, as sparse binary rows."""

from hyperbaton.base.registry import Registry


class FeatureSet:
    """Turns samples into sparse rows."""


FEATURES: Registry[FeatureSet] = Registry("feature", "hyperbaton.features", FeatureSet)
