"""Phrase pairs: samples, orientations, phrase and reordering tables."""

from hyperbaton.phrases.extracted import Extracted
from hyperbaton.phrases.inventory import Inventory, Phrases
from hyperbaton.phrases.orientation import ORIENTATIONS, DistanceSet, MosesSet, OrientationSet, orientation_set
from hyperbaton.phrases.reordering import ReorderingType, orientation_counts, reordering_probabilities
from hyperbaton.phrases.samples import Extraction, Samples, extract
from hyperbaton.phrases.table import PhraseTable, Scoring

__all__ = [
    "ORIENTATIONS",
    "DistanceSet",
    "Extracted",
    "Extraction",
    "Inventory",
    "MosesSet",
    "OrientationSet",
    "PhraseTable",
    "Phrases",
    "ReorderingType",
    "Samples",
    "Scoring",
    "extract",
    "orientation_counts",
    "orientation_set",
    "reordering_probabilities",
]
