"""Feature sets, one file each: what a model sees of a phrase pair in context, as sparse rows.

The feature space is fixed on training data; what is not in it is left out of later rows.
"""

from hyperbaton.base.registry import Registry
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.features._set import FeatureSet
from hyperbaton.features._templates import Template, TemplateFeatures

__all__ = ["FEATURES", "FeatureSet", "Rows", "Template", "TemplateFeatures", "TrainingRows"]

FEATURES: Registry[FeatureSet] = Registry("feature", "hyperbaton.features", FeatureSet)
