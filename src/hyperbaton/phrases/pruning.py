"""Pruning of phrase tables: by significance, by composition from shorter pairs, by count, and by rank.

Fisher's exact test tells whether two phrases occur together by chance (Johnson et al. 2007). Of N sentence pairs, c(s)
contain the source phrase, c(t) the target phrase, and c(s, t) both; −ln of the probability of c(s, t) or more by chance is
the significance of the pair. If all three counts are 1, as for very many pairs, it is α = ln N: the threshold α − ε keeps
these pairs, α + ε drops them.

A pair that can be composed from shorter ones adds little information (Ling et al. 2012, Zens et al. 2012). With p'(t|s) the
best product of p(t'|s') over the ways to cut the pair into pairs of the table, side by side or swapped, dropping it costs

    c(s, t) · (ln p(t|s) − ln p'(t|s))

nats on the training text: its contribution to the relative entropy of the two models, times the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import ranges
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.extraction import ExtractedPhrases
from hyperbaton.phrases.rules import RuleTable
from hyperbaton.phrases.table import PhraseTable

EPSILON = 0.01
Keep = npt.NDArray[np.bool_]


@dataclass
class Pruning(CheckedOptions):
    """Criteria for keeping phrase pairs."""

    significance: str = option(
        "a-e", "significance threshold; a+e also drops pairs of phrases seen once", metavar="a-e|a+e|X|none"
    )
    min_count: int = option(1, "drop pairs seen fewer times", minimum=1)
    top: int = option(
        0, "keep at most this many target phrases per source phrase, the most probable; 0 keeps all", minimum=0
    )

    relative_entropy: float | None = option(
        None, "drop pairs that shorter ones compose at a cost of at most this many nats in all occurrences", minimum=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.threshold(1)

    def threshold(self, n_sentences: int) -> float | None:
        """The significance that a pair must exceed in a text of `n_sentences` sentence pairs."""
        alpha = log(max(n_sentences, 1))
        named = {"none": None, "a+e": alpha + EPSILON, "a-e": alpha - EPSILON}
        if self.significance in named:
            return named[self.significance]
        try:
            value = float(self.significance)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise OptionError(
                f"significance must be a+e, a-e, none or a number that is not negative, not {self.significance!r}"
            )
        return value


def significance(table: PhraseTable, bitext: Bitext, resources: Resources) -> npt.NDArray[np.float64]:
    """−ln of the p-value of each pair of a table by Fisher's exact test on the sentence pairs of a bitext.

    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a", "b", "b"], ["x", "y", "y"], [[(0, 0)]] * 3)
    >>> table = PhraseTable.build(bitext, extract(bitext))
    >>> significance(table, bitext, Resources.of()).round(3).tolist()  # ln 3, and ln 3 again
    [1.099, 1.099]
    """
    source, target = bitext.source.over(table.source.vocabulary), bitext.target.over(table.target.vocabulary)
    sources, targets, pairs = table.arrays_view.count_occurring(
        source.core_tokens, target.core_tokens, resources.threads, resources.progress
    )
    return _core.significance(pairs, sources[table.sources], targets[table.targets], len(bitext), resources.threads)


def rule_significance(table: PhraseTable, n: int, resources: Resources) -> npt.NDArray[np.float64]:
    """−ln of the p-value of each rule by Fisher's exact test on the counts of the table, of `n` rules in all.

    Occurrences of rules are not looked up: c(s), c(t) and c(s, t) are the counts from which their probabilities are
    estimated. They are fractions, and are rounded up.

    >>> from hyperbaton.phrases import extract_rules
    >>> bitext = Bitext.of(["a", "b", "b"], ["x", "y", "y"], [[(0, 0)]] * 3)
    >>> rule_significance(extract_rules(bitext).table, 3, Resources.of()).round(3).tolist()
    [1.099, 1.099]
    """
    target, source, both = np.ceil(table.counts[:].T).astype(np.uint32)
    both = np.minimum(both, np.minimum(source, target))
    return _core.significance(both, source, target, n, resources.threads)


def composition_costs(table: PhraseTable, resources: Resources) -> npt.NDArray[np.float64]:
    """The cost on the training text, in nats, of composing each pair from shorter ones; infinity if that is impossible.

    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a b", "a", "a"], ["x y", "x", "z"], [[(0, 0), (1, 1)], [(0, 0)], [(0, 0)]])
    >>> table = PhraseTable.build(bitext, extract(bitext))
    >>> costs = composition_costs(table, Resources.of())  # p(x|a) is 2/3
    >>> {table.source[s]: round(float(cost), 3) for s, cost in zip(table.sources, costs) if np.isfinite(cost)}
    {'a b': 0.405}
    """
    if table.scores.shape[1] < 3:
        raise OptionError("the phrase table has no p(t|s) to compose phrase pairs with")
    table.check()
    with np.errstate(divide="ignore"):
        logprobs = numeric.log(table.scores[:, 2].astype(np.float64))
    composed = table.arrays_view.composed_logprobs(logprobs, resources.threads, resources.progress)
    never = ~np.isfinite(composed)
    costs: npt.NDArray[np.float64] = table.counts[:, 2] * (logprobs - np.where(never, 0.0, composed))
    costs[never] = np.inf
    return costs


def kept_pairs(table: PhraseTable, bitext: Bitext | None, options: Pruning | None, resources: Resources) -> Keep:
    """Which pairs of a table are kept: the `top` pairs of each source phrase among those that pass every threshold.

    Without a bitext, the significance of rules is tested on the counts of the table.
    """
    options = options or Pruning()
    keep: Keep = table.counts[:, 2] >= (options.min_count if options.min_count > 1 else 0)  # counts of rules are fractions
    n = int(np.ceil(table.counts[:, 2].astype(np.float64)).sum()) if bitext is None else len(bitext)
    threshold = options.threshold(n)
    if threshold is not None:
        values = rule_significance(table, n, resources) if bitext is None else significance(table, bitext, resources)
        keep &= values > threshold
    if options.relative_entropy is not None:
        keep &= composition_costs(table, resources) > options.relative_entropy
    if options.top:
        if table.scores.shape[1] < 3:
            raise OptionError("the phrase table has no p(t|s) by which to find the most probable target phrases")
        # Dropped pairs come last; others by decreasing probability, with ties in the order of the table.
        order = np.lexsort((-table.scores[:, 2], ~keep, table.sources))
        places = np.empty(len(table), np.int64)
        places[order] = ranges(0, np.diff(table.offsets))
        keep &= places < options.top
    return keep


def prune(
    extracted: ExtractedPhrases,
    bitext: Bitext,
    options: Pruning | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ExtractedPhrases:
    """The extracted phrase pairs that are worth keeping, and the orientations of their samples.

    >>> from hyperbaton.phrases import extract_phrases
    >>> bitext = Bitext.of(["a", "b", "b"], ["x", "y", "y"], [[(0, 0)]] * 3)
    >>> len(prune(extract_phrases(bitext), bitext, Pruning(significance="none", min_count=2)).table)
    1
    """
    extracted.check()
    table, orientations = extracted.table, extracted.orientations
    keep = kept_pairs(table, bitext, options, Resources.of(threads, progress))
    # A table built with a minimum count has fewer pairs than were extracted.
    counts = orientations.counts[:]
    rows = np.arange(orientations.n_pairs)
    if len(table) < orientations.n_pairs:
        rows = np.flatnonzero(counts >= table.counts[:, 2].min(initial=np.inf))
    if len(rows) != len(table) or (counts[rows].astype(np.float32) != table.counts[:, 2]).any():
        raise OptionError("the phrase table does not fit the samples")
    kept = np.zeros(orientations.n_pairs, np.bool_)
    kept[rows[keep]] = True
    smaller = table.select(keep).without_unused()
    return ExtractedPhrases(smaller, orientations.select(kept, smaller.offsets))


def prune_rules(rules: RuleTable, options: Pruning | None = None, *, threads: int | None = None) -> RuleTable:
    """Rules that are worth keeping: by significance, by count, and by rank among those of the same source side.

    >>> from hyperbaton.phrases import extract_rules
    >>> bitext = Bitext.of(["a", "a", "a"], ["x", "x", "y"], [[(0, 0)]] * 3)
    >>> prune_rules(extract_rules(bitext), Pruning(significance="none", top=1)).options_of("a")
    [('x', [1.0, 1.0, 0.6666669845581055, 0.6666669845581055])]
    """
    options = options or Pruning()
    if options.relative_entropy is not None:
        raise OptionError("--relative-entropy composes phrases without gaps: leave it out for rules")
    rules.table.check()
    keep = kept_pairs(rules.table, None, options, Resources.of(threads))
    return replace(rules, table=rules.table.select(keep).without_unused())
