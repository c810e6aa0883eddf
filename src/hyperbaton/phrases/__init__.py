"""Phrase pairs: samples, orientations, phrase and reordering tables."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.phrases.class_counts import ClassCounts as ClassCounts
    from hyperbaton.phrases.class_counts import class_frequencies as class_frequencies
    from hyperbaton.phrases.class_counts import smooth as smooth
    from hyperbaton.phrases.extracted import ExtractedPhrases as ExtractedPhrases
    from hyperbaton.phrases.inventory import Inventory as Inventory
    from hyperbaton.phrases.inventory import Phrases as Phrases
    from hyperbaton.phrases.occurrences import Occurrences as Occurrences
    from hyperbaton.phrases.occurrences import Spans as Spans
    from hyperbaton.phrases.occurrences import TranslationOptions as TranslationOptions
    from hyperbaton.phrases.orientation import ORIENTATIONS as ORIENTATIONS
    from hyperbaton.phrases.orientation import DistanceSet as DistanceSet
    from hyperbaton.phrases.orientation import MosesSet as MosesSet
    from hyperbaton.phrases.orientation import OrientationSet as OrientationSet
    from hyperbaton.phrases.orientation import distances as distances
    from hyperbaton.phrases.orientation import near_samples as near_samples
    from hyperbaton.phrases.orientation import orientation_set as orientation_set
    from hyperbaton.phrases.pair_orientations import PairOrientations as PairOrientations
    from hyperbaton.phrases.pruning import Pruning as Pruning
    from hyperbaton.phrases.pruning import prune as prune
    from hyperbaton.phrases.reordering import ReorderingType as ReorderingType
    from hyperbaton.phrases.reordering import reordering_probabilities as reordering_probabilities
    from hyperbaton.phrases.rules import RuleLimits as RuleLimits
    from hyperbaton.phrases.rules import RuleTable as RuleTable
    from hyperbaton.phrases.rules_extraction import extract_rules as extract_rules
    from hyperbaton.phrases.samples import Extraction as Extraction
    from hyperbaton.phrases.samples import Sample as Sample
    from hyperbaton.phrases.samples import Samples as Samples
    from hyperbaton.phrases.samples import extract as extract
    from hyperbaton.phrases.table import PhraseTable as PhraseTable
    from hyperbaton.phrases.table import Scoring as Scoring

LazyNames(globals())
