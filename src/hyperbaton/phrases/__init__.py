"""Phrase pairs: samples, orientations, phrase and reordering tables.

The files, in the order in which data flows:

| file | from → to |
|---|---|
| `samples.py` | a bitext with links → `Samples`, every occurrence of a phrase pair, as columns |
| `orientation.py`, `orientations/` | samples → classes of movement, a file for each set; `coverage.py`: possible classes |
| `inventory.py` | samples → `Phrases` and `Inventory`, the distinct phrases and pairs, and the samples of each pair |
| `smoothing.py`, `smoothings/` | `PairCounts` of an inventory → probabilities, a file for each smoothing |
| `pair_values.py` | what a table keeps for each pair: counts, scores, and `LinkSets`, computed when they are asked for |
| `table.py` | an inventory, its lexical weights and probabilities → `PhraseTable` |
| `extraction.py` | all of this for a bitext, in parts → `ExtractedPhrases`: a table and `PairOrientations` |
| `reordering.py` | the orientations of pairs → probabilities of a reordering table, `DistinctRows` |
| `pruning.py` | a table → a smaller table |
| `moses.py` | tables ↔ Moses' files |
| `rules/` | the same for hierarchical rules |
| `occurrences.py` | samples or translation options → `Occurrences`, the input of reordering models |
| `class_counts.py` | keys of occurrences and their classes → `ClassCounts` |

Names say what a value has a row for: …`Rows` is any table of rows, …`Counts` and …`Scores` have a row for each phrase
pair, `Plain`… is stored as it is, and `ClassCounts` has a row for each key.
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.phrases.class_counts import ClassCounts as ClassCounts
    from hyperbaton.phrases.class_counts import class_frequencies as class_frequencies
    from hyperbaton.phrases.class_counts import smooth as smooth
    from hyperbaton.phrases.extraction import ExtractedPhrases as ExtractedPhrases
    from hyperbaton.phrases.extraction import PairOrientations as PairOrientations
    from hyperbaton.phrases.extraction import extract_phrases as extract_phrases
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
    from hyperbaton.phrases.pruning import Pruning as Pruning
    from hyperbaton.phrases.pruning import prune as prune
    from hyperbaton.phrases.reordering import ReorderingType as ReorderingType
    from hyperbaton.phrases.reordering import reordering_probabilities as reordering_probabilities
    from hyperbaton.phrases.rules import RuleLimits as RuleLimits
    from hyperbaton.phrases.rules import RuleTable as RuleTable
    from hyperbaton.phrases.rules import extract_rules as extract_rules
    from hyperbaton.phrases.samples import Extraction as Extraction
    from hyperbaton.phrases.samples import Sample as Sample
    from hyperbaton.phrases.samples import Samples as Samples
    from hyperbaton.phrases.samples import extract as extract
    from hyperbaton.phrases.table import PhraseTable as PhraseTable
    from hyperbaton.phrases.table import Scoring as Scoring

LazyNames(globals())
