"""Real-valued features from counts: how the phrase pair, and the source phrase, moved in training (NI11 §1.1).

For K classes: log p(o | s, t) and log p(o | s) of each class o, smoothed towards p(o | s) and p(o), then log(1 + c) of
the pair and of the source phrase, and the lengths of the two phrases divided by 10. In training a sample is described by
the counts of other sentences, those outside its own tenth of the text: otherwise a pair seen once would reveal its own
class. (Leaving out only the sample itself is no better: for a pair seen once with each of two classes, each sample
would see only the other's class.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import Layout, joined, within
from hyperbaton.base.options import option
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import Rows, RowsOnDemand, TrainingRows
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Arrays, group
from hyperbaton.corpus import Vocabulary
from hyperbaton.features._set import FeatureSet
from hyperbaton.phrases import ClassCounts, Occurrences, class_frequencies, smooth
from hyperbaton.phrases.occurrences import Keys

_LENGTH_UNIT = 10.0
_FOLDS = 10


def _in_other_sentences(counts: ClassCounts, keys: Keys, sentences: Array, labels: Array, scratch: Scratch) -> Array:
    """The counts of each sample's key in the sentences of other folds, (n, n_classes)."""
    n_classes = counts.counts.shape[1]
    others = scratch.array((len(keys), n_classes), np.uint32)
    for fold in range(_FOLDS):
        here = np.flatnonzero(sentences % _FOLDS == fold)
        fold_counts = ClassCounts.of(np.asarray(keys[here]), labels[here], n_classes, scratch)
        for rows in scratch.rows(len(here), row_bytes=32 * n_classes):
            some = keys[here[rows]]
            others[here[rows]] = counts.at(some) - fold_counts.at(some)
    return others


@dataclass
class Statistical(FeatureSet):
    """Log orientation probabilities of the phrase pair and its source phrase, their counts and lengths."""

    smoothing: float = option(0.5, "pseudo-count of each class", minimum=1e-6)

    def fit_rows(
        self, occurrences: Occurrences, labels: npt.NDArray[np.uint8], n_classes: int, resources: Resources
    ) -> TrainingRows:
        """Count, and compute the rows of samples from the counts of other sentences."""
        scratch = resources.scratch
        pair_keys, source_keys = occurrences.pair_keys(resources), occurrences.source_keys(resources)
        self.pairs_ = ClassCounts.of(pair_keys, labels, n_classes, scratch)
        self.sources_ = ClassCounts.of(source_keys, labels, n_classes, scratch)
        self.prior_ = smooth(class_frequencies(labels, n_classes).astype(float), 1.0, np.full(n_classes, 1 / n_classes))
        sentences = occurrences.source_spans.sentence
        pairs = _in_other_sentences(self.pairs_, pair_keys, sentences, labels, scratch)
        sources = _in_other_sentences(self.sources_, source_keys, sentences, labels, scratch)

        def at(numbers: npt.NDArray[np.uint32]) -> Rows:
            counts = (counts[numbers].astype(np.float64) for counts in (pairs, sources))
            return self.described(occurrences.select(numbers), *counts)

        return RowsOnDemand(self.n_features, len(occurrences), at)

    def rows(self, occurrences: Occurrences, *, threads: int | None = None) -> Rows:
        resources = Resources.of(threads)
        pairs = self.pairs_.at(occurrences.pair_keys(resources))
        return self.described(occurrences, pairs, self.sources_.at(occurrences.source_keys(resources)))

    def described(self, occurrences: Occurrences, pairs: Array, sources: Array) -> Rows:
        """The rows of phrase pairs that have these counts of classes, (n, n_classes), themselves and as source phrases."""
        by_source = smooth(sources, self.smoothing, self.prior_)
        by_pair = smooth(pairs, self.smoothing, by_source)
        lengths = np.stack([occurrences.source_spans.length, occurrences.target_spans.length], axis=1)
        sums = np.stack([pairs.sum(axis=1), sources.sum(axis=1)], axis=1)
        values = np.concatenate(
            [numeric.log(by_pair), numeric.log(by_source), numeric.log1p(sums), lengths / _LENGTH_UNIT], axis=1
        )
        n, width = values.shape
        indices = np.tile(np.arange(width, dtype=np.int32), n)
        return Rows(np.arange(n + 1, dtype=np.int64) * width, indices, width, np.ascontiguousarray(values.ravel()))

    @property
    def n_features(self) -> int:
        return 2 * len(self.prior_) + 4

    def describe(self, feature: int, source: Vocabulary, target: Vocabulary) -> str:
        n = len(self.prior_)
        if feature < 2 * n:
            return f"log p(class {feature % n} | {'source, target' if feature < n else 'source'})"
        return ("log(1 + pair count)", "log(1 + source count)", "source length / 10", "target length / 10")[feature - 2 * n]

    def arrays(self) -> dict[str, Array]:
        return {**self.pairs_.arrays("pairs"), **self.sources_.arrays("sources"), "prior": self.prior_}

    def layout(self, n_classes: int) -> Layout:
        counts = (within(name, ClassCounts.LAYOUT, n_classes=str(n_classes)) for name in ("pairs", "sources"))
        return {"prior": f"f8 {n_classes}"} | joined(counts)

    def restore(self, arrays: Arrays) -> Self:
        self.pairs_ = ClassCounts.from_arrays(group(arrays, "pairs"))
        self.sources_ = ClassCounts.from_arrays(group(arrays, "sources"))
        self.prior_ = arrays["prior"]
        return self
