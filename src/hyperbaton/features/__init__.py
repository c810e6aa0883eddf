"""Feature sets, one file each: phrase pairs in context as sparse rows.

The feature space is fixed on training data; later rows leave out features that are not in it.
"""

from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.features._joined import FeatureSets
from hyperbaton.features._set import FeatureSet
from hyperbaton.features._templates import Template, TemplateFeatures

__all__ = ["FEATURES", "FeatureSet", "Rows", "Template", "TemplateFeatures", "TrainingRows"]

FEATURES = FeatureSets("feature", "hyperbaton.features", FeatureSet)
