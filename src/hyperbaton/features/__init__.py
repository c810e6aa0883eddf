"""Feature sets, one file each: phrase pairs in context as sparse rows.

The feature space is fixed on training data; later rows leave out features that are not in it.
"""

from hyperbaton.base.registry import Registry
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.features._set import FeatureSet
from hyperbaton.features._templates import Template, TemplateFeatures

__all__ = ["FEATURES", "FeatureSet", "Rows", "Template", "TemplateFeatures", "TrainingRows"]

FEATURES: Registry[FeatureSet] = Registry("feature", "hyperbaton.features", FeatureSet)
