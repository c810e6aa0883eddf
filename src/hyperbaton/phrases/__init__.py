"""Phrase pairs: samples, orientations, phrase and reordering tables."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.phrases.class_counts import ClassCounts, class_frequencies, smooth
    from hyperbaton.phrases.extracted import ExtractedPhrases
    from hyperbaton.phrases.inventory import Inventory, Phrases
    from hyperbaton.phrases.occurrences import Occurrences, Options, Spans
    from hyperbaton.phrases.orientation import (
        ORIENTATIONS,
        DistanceSet,
        MosesSet,
        OrientationSet,
        distances,
        near_samples,
        orientation_set,
    )
    from hyperbaton.phrases.pair_orientations import PairOrientations
    from hyperbaton.phrases.pruning import Pruning, prune
    from hyperbaton.phrases.reordering import ReorderingType, orientation_counts, reordering_probabilities
    from hyperbaton.phrases.rules import RuleLimits, RuleTable
    from hyperbaton.phrases.rules_extraction import extract_rules
    from hyperbaton.phrases.samples import Extraction, Sample, Samples, extract
    from hyperbaton.phrases.table import PhraseTable, Scoring
else:
    __getattr__ = names_from(
        __name__,
        {
            "class_counts": ("ClassCounts", "class_frequencies", "smooth"),
            "extracted": ("ExtractedPhrases",),
            "inventory": ("Inventory", "Phrases"),
            "occurrences": ("Occurrences", "Options", "Spans"),
            "orientation": (
                "ORIENTATIONS",
                "DistanceSet",
                "MosesSet",
                "OrientationSet",
                "distances",
                "near_samples",
                "orientation_set",
            ),
            "pair_orientations": ("PairOrientations",),
            "pruning": ("Pruning", "prune"),
            "reordering": ("ReorderingType", "orientation_counts", "reordering_probabilities"),
            "rules": ("RuleLimits", "RuleTable"),
            "rules_extraction": ("extract_rules",),
            "samples": ("Extraction", "Sample", "Samples", "extract"),
            "table": ("PhraseTable", "Scoring"),
        },
    )


__all__ = [
    "ORIENTATIONS",
    "ClassCounts",
    "DistanceSet",
    "ExtractedPhrases",
    "Extraction",
    "Inventory",
    "MosesSet",
    "Occurrences",
    "Options",
    "OrientationSet",
    "PairOrientations",
    "PhraseTable",
    "Phrases",
    "Pruning",
    "ReorderingType",
    "RuleLimits",
    "RuleTable",
    "Sample",
    "Samples",
    "Scoring",
    "Spans",
    "class_frequencies",
    "distances",
    "extract",
    "extract_rules",
    "near_samples",
    "orientation_counts",
    "orientation_set",
    "prune",
    "reordering_probabilities",
    "smooth",
]
