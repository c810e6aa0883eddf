"""Discriminative models with feature weights: one sub-model for each source phrase, or one global model.

    p(o | s, t) = exp(w_o · φ) / Σ_o' exp(w_o' · φ)                                   NI11 eq. 3, h = exp

With a feature set that has `coverage`, a weight g of the class and the coverage state of the phrase is added to the
score. It is learned first, for all phrases together, and the other weights are learned given g.

A source phrase with too few samples has no sub-model. The class frequencies of the phrase pair are used instead, smoothed
towards those of the source phrase, which are smoothed towards the frequencies of all samples; the latter are also used
for unseen phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.options import option, plugin
from hyperbaton.base.rows import RowsOnDemand
from hyperbaton.base.scratch import Column
from hyperbaton.base.store import Arrays
from hyperbaton.corpus import Text
from hyperbaton.features import FEATURES, FeatureSet, Rows, TrainingRows
from hyperbaton.learn import GLOBAL_LAYOUT, LEARNERS, ClusterModel, GlobalModel, Learner, LinearModel, restored_model
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.orientation import LogProbs, OrientationModel, TrainingSamples
from hyperbaton.phrases import ClassCounts, Occurrences, TranslationOptions, smooth
from hyperbaton.phrases.coverage import COVERAGE_STATES
from hyperbaton.phrases.occurrences import Keys

# The core takes the logarithm of prior probabilities.
LEAST = 1e-9


class Evidence(NamedTuple):
    """The weights that apply to a phrase pair: `weights[i]` (n_classes,) belongs to feature `features[i]`, increasing."""

    features: Array
    weights: Array
    unit_length: bool
    factor: float = 1.0  # factor of this part


def cluster_part(model: ClusterModel, cluster: int, factor: float = 1.0) -> Evidence:
    entries = slice(model.offsets[cluster], model.offsets[cluster + 1])
    return Evidence(model.features[entries], model.weights[entries], model.unit_length, factor)


def global_part(model: LinearModel, factor: float = 1.0) -> Evidence:
    return Evidence(np.arange(len(model.weights)), model.weights, model.unit_length, factor)


def contributions(parts: list[Evidence], features: Array, values: Array, constant: int) -> dict[int, Array]:
    """Feature → its contribution to the score of each class; `constant` is the feature that always fires."""
    total: dict[int, Array] = {}
    for part in parts:
        scale = part.factor / np.sqrt((values * values).sum()) if part.unit_length and len(values) else part.factor
        # The constant is not scaled to unit length.
        for feature, value in [*zip(features.tolist(), values * scale, strict=True), (constant, part.factor)]:
            at = int(np.searchsorted(part.features, feature))
            if at < len(part.features) and part.features[at] == feature:
                total[feature] = total.get(feature, 0) + value * part.weights[at]
    return total


@dataclass(frozen=True)
class SourcePhrases:
    """Source phrases of training: their class counts, and which have a sub-model."""

    counts: ClassCounts
    clusters: Array  # (n_phrases,): number of the sub-model, -1 for none
    offsets: Array  # words of the phrase of sub-model c: words[offsets[c]:offsets[c + 1]]
    words: Array

    @classmethod
    def of(cls, training: TrainingSamples, n_classes: int, min_cluster: int) -> tuple[SourcePhrases, Array]:
        """Count, and number the phrases with at least `min_cluster` samples; also the sub-model of each sample."""
        scratch, occurrences = training.resources.scratch, training.occurrences
        keys = occurrences.source_keys(training.resources)
        counts, first, numbers = ClassCounts.numbered(keys, training.labels, n_classes, scratch)
        clusters, examples = scratch.array(len(first), np.int32), [first[:0]]
        n_clusters = 0
        for rows in scratch.rows(len(first), row_bytes=64):
            large = counts.counts[rows].sum(axis=1) >= min_cluster
            clusters[rows] = np.where(large, n_clusters + np.cumsum(large) - 1, -1)
            examples.append(first[rows][large])
            n_clusters += len(examples[-1])
        phrases = cls(counts, clusters, *occurrences.select(np.concatenate(examples)).source_words())
        return phrases, scratch.filled(len(numbers), np.int32, 16, lambda rows: clusters[numbers[rows]])

    def clusters_of(self, keys: Keys) -> Array:
        """The sub-model of each phrase, -1 for none."""
        rows = self.counts.find(keys)
        return np.where(rows >= 0, self.clusters[rows], -1)

    @property
    def n_clusters(self) -> int:
        return len(self.offsets) - 1

    LAYOUT: ClassVar[Layout] = {
        "clusters": "i4 n",
        "offsets": "i8 n_clusters+1",
        "words": "u4 n_words",
        **ClassCounts.LAYOUT,
    }

    def arrays(self, prefix: str) -> dict[str, Array]:
        by_name = {f"{prefix}.{name}": getattr(self, name) for name in ("clusters", "offsets", "words")}
        return by_name | self.counts.arrays(prefix)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SourcePhrases:
        return cls(ClassCounts.from_arrays(arrays), arrays["clusters"], arrays["offsets"], arrays["words"])


@dataclass(eq=False)
class Discriminative(OrientationModel):
    """Base of models with feature weights; a model defines its default learner and features."""

    phases: ClassVar = {"phrase pairs": 1, "features": 2, "weights": 6}

    features: str | FeatureSet = option("dpr", "feature set and its options; + joins sets", plugins=FEATURES)
    learner: str | Learner = option("lbfgs", "learner and its options", plugins=LEARNERS)
    scope: str = option("clusters", "one sub-model per source phrase, or one global model", choices=("clusters", "global"))
    min_cluster: int = option(10, "minimum number of samples for a sub-model", minimum=1)
    smoothing: float = option(5.0, "pseudo-count of each class for source phrases without a sub-model", minimum=1e-6)
    pair_smoothing: float = option(0.3, "pseudo-count of each class for phrase pairs of such source phrases", minimum=1e-6)

    def _learner(self, name: str = "learner") -> Learner:
        """The learner named in that option, with the model's seed and threads."""
        learner: Learner = plugin(self, name)
        learner.seed, learner.threads = self.seed, self.threads
        return learner

    def _feature_set(self) -> FeatureSet:
        return plugin(self, "features")

    def _fit(self, training: TrainingSamples) -> None:
        self.phrases_, clusters = SourcePhrases.of(training, len(self.class_names), self.min_cluster)
        self.rare_pairs_: ClassCounts | None = None
        self._learn(training, self._fit_features(training), clusters)

    def _fit_features(self, training: TrainingSamples) -> TrainingRows:
        self.feature_set_ = self._feature_set()
        n_classes = len(self.class_names)
        rows = self.feature_set_.fit_rows(
            training.occurrences, training.labels, n_classes, training.resources.phase("features")
        )
        if rows.n_features == 0:
            named = FEATURES.text(self.feature_set_)
            raise InputError(f"no feature is frequent enough: use more text, or a smaller min-count in --features {named}")
        return rows

    def _learn(self, training: TrainingSamples, rows: TrainingRows, clusters: Array) -> None:
        """Train on rows of features; `clusters` is the sub-model of each row, -1 for none."""
        if training.coverage is not None and not self._learner().takes_prior:
            raise OptionError("coverage needs a learner that takes a prior: lbfgs, gis or iis")
        self._fit_coverage(training, lambda rows: self.prior)
        self.clusters_, self.global_ = None, None
        if self.scope == "global":
            self.global_ = self._fit_global(self._learner(), training, rows)
        else:
            self.clusters_ = self._fit_clusters(self._learner(), training, rows, clusters)
            del rows  # free the memory of their parts
            self.rare_pairs_ = self._count_pairs(training, clusters)

    def _count_pairs(self, training: TrainingSamples, clusters: Array) -> ClassCounts:
        """Counts of the phrase pairs whose source phrase has no sub-model."""
        scratch = training.resources.scratch
        keys, labels = Column(scratch, np.uint64), Column(scratch, np.uint8)
        for rows in scratch.rows(len(clusters), row_bytes=64):
            rest = rows.start + np.flatnonzero(clusters[rows] < 0)
            keys.append(training.occurrences.select(rest).pair_keys(self._resources))
            labels.append(training.labels[rest])
        return ClassCounts.of(keys.finish(), labels.finish(), len(self.class_names), scratch)

    def _fit_global(self, learner: Learner, training: TrainingSamples, rows: TrainingRows) -> GlobalModel:
        has_prior = self._has_prior(learner, training)
        learner.fit(
            rows,
            training.labels,
            len(self.class_names),
            training.resources.phase(list(self.phases)[2]).progress,
            (lambda rows: self._prior(training, rows, 1.0)) if has_prior else None,
            scratch=training.resources.scratch,
        )
        self.history_ = learner.history_
        return learner.model_

    def _fit_clusters(
        self,
        learner: Learner,
        training: TrainingSamples,
        rows: TrainingRows,
        clusters: Array,
        reference: Callable[[Any], Array] | None = None,
    ) -> ClusterModel:
        """Train the sub-models; `reference` gives a class distribution for each of some rows of features."""

        def prior(numbers: Array, rows: Any) -> Array:
            return self._prior(training, numbers, 1.0 if reference is None else reference(rows))

        return learner.fit_clusters(
            rows,
            training.labels,
            clusters,
            n_classes=len(self.class_names),
            n_clusters=self.phrases_.n_clusters,
            progress=training.resources.phase(list(self.phases)[-1]).progress,
            prior=prior if reference is not None or self._has_prior(learner, training) else None,
            scratch=training.resources.scratch,
        )

    @property
    def sees_coverage(self) -> bool:
        return self._feature_set().coverage

    def _fit_coverage(self, training: TrainingSamples, reference: Callable[[slice], Array]) -> None:
        """Learn the weights of the coverage relative to a reference distribution of the samples' classes, which is given
        for some of them at a time, (n, n_classes), or is one distribution for all."""
        states = training.coverage
        if states is None:
            return
        learner = LEARNERS["lbfgs"](intercept=False)
        learner.threads = self.threads

        def prior(rows: slice) -> Array:
            return self._prior(training, rows, np.maximum(reference(rows), LEAST))

        n_classes = len(self.class_names)
        scratch = training.resources.scratch

        def state_of(numbers: Array) -> Rows:  # its only feature
            return Rows(np.arange(len(numbers) + 1), states[numbers].astype(np.int32), COVERAGE_STATES)

        rows = RowsOnDemand(COVERAGE_STATES, len(states), state_of)
        learner.fit(rows, training.labels, n_classes, prior=prior, scratch=scratch)
        self.coverage_weights_ = learner.model_.scores(np.eye(COVERAGE_STATES))

    def _has_prior(self, learner: Learner, training: TrainingSamples) -> bool:
        """Whether the coverage or the possible classes define a prior.

        Learners without priors are trained on all classes; impossible classes are then excluded only when the model is
        used.
        """
        return learner.takes_prior and (training.possible is not None or self.coverage_weights_ is not None)

    def _prior(self, training: TrainingSamples, numbers: Array | slice, prior: Array | float) -> Array:
        """The prior of some samples with the weights of the coverage, and a negligible value for impossible classes, so
        that the learner normalises over the others; (n, n_classes)."""
        weights = self.coverage_weights_
        if training.possible is None and weights is None and training.coverage is None:
            return np.asarray(prior)
        scores: Array = np.broadcast_to(prior, (len(training.labels[numbers]), len(self.class_names)))
        if weights is not None and training.coverage is not None:
            scores = scores * numeric.exp(weights - weights.max(axis=1, keepdims=True))[training.coverage[numbers]]
        if training.possible is not None:
            scores = np.where(training.possible[numbers], scores, 0.0)
        return np.maximum(scores, LEAST)

    def counts_of(self, occurrences: Occurrences) -> Array:
        return self.phrases_.counts.at(self.known(occurrences).source_keys(self._resources))

    def phrase_weights(self, phrase: str) -> list[tuple[str, Array]]:
        alone = Occurrences.of_options(Text.of([phrase]), TranslationOptions.of([(0, 0, len(phrase.split()), "", [])]))
        cluster = int(self.phrases_.clusters_of(self.known(alone).source_keys())[0])
        if self.clusters_ is None or cluster < 0:
            return []
        part = cluster_part(self.clusters_, cluster)
        return [(self._describe(int(f)), w) for f, w in zip(part.features, part.weights, strict=True)]

    def evidence(self, occurrences: Occurrences) -> list[list[tuple[str, Array]]]:
        known = self.known(occurrences)
        rows, keys = self.feature_set_.rows(known, threads=self.threads or None), known.source_keys()
        evidence = []
        for i in range(len(known)):
            entries = slice(rows.indptr[i], rows.indptr[i + 1])
            values = np.ones(entries.stop - entries.start) if rows.values is None else rows.values[entries]
            parts = self._parts(keys[i : i + 1])
            added_by_feature = contributions(parts, rows.indices[entries], values, self.feature_set_.n_features)
            evidence.append([(self._describe(feature), added) for feature, added in added_by_feature.items()])
        return evidence

    def _parts(self, key: Keys) -> list[Evidence]:
        cluster = int(self.phrases_.clusters_of(key)[0])
        if self.global_ is not None:
            return [global_part(self.global_)] if isinstance(self.global_, LinearModel) else []
        return [] if self.clusters_ is None or cluster < 0 else [cluster_part(self.clusters_, cluster)]

    def _describe(self, feature: int) -> str:
        if feature == self.feature_set_.n_features:
            return "always"
        return self.feature_set_.describe(feature, self.source_vocabulary_, self.target_vocabulary_)

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        rows = self.feature_set_.rows(occurrences, threads=self.threads or None)
        if self.global_ is not None:
            return numeric.log_softmax(self.global_.scores(rows, self.threads))
        if self.clusters_ is None:
            raise AttributeError("the model has no sub-models")
        keys = occurrences.source_keys(self._resources)
        clusters = self.phrases_.clusters_of(keys)
        result = numeric.log_softmax(self.clusters_.scores(rows, clusters, self.threads))
        rest = np.flatnonzero(clusters < 0)
        result[rest] = self._backed_off(occurrences.select(rest), keys[rest])
        return result

    def _backed_off(self, occurrences: Occurrences, keys: Keys) -> LogProbs:
        """Probabilities from the counts of the pair, then of the source phrase (`keys`), then of all samples."""
        by_source = smooth(self.phrases_.counts.at(keys), self.smoothing, self.prior)
        if self.rare_pairs_ is None:
            raise AttributeError("the model has counted no phrase pairs")
        pairs = self.rare_pairs_.at(occurrences.pair_keys(self._resources))
        return numeric.log(smooth(pairs, self.pair_smoothing, by_source))

    def _arrays(self) -> dict[str, Array]:
        arrays = {f"features.{name}": array for name, array in self.feature_set_.arrays().items()}
        arrays |= self.phrases_.arrays("phrases")
        if self.rare_pairs_ is not None:
            arrays |= self.rare_pairs_.arrays("rare-pairs")
        for prefix, model in (("global", self.global_), ("clusters", self.clusters_)):
            if model is not None:
                arrays |= {f"{prefix}.{name}": array for name, array in model.arrays().items()}
        return arrays

    def _layout(self) -> dict[str, str]:
        return self._layout_with({"global"} if self.scope == "global" else {"clusters", "rare-pairs"})

    def _layout_with(self, needed: Collection[str]) -> dict[str, str]:
        """The layout of a model that has these learned parts, and may have the others."""
        n_classes = len(self.class_names)
        parts = {"global": GLOBAL_LAYOUT, "clusters": ClusterModel.LAYOUT, "rare-pairs": ClassCounts.LAYOUT}
        layout = super()._layout() | within("features", self._feature_set().layout(n_classes))
        layout |= within("phrases", SourcePhrases.LAYOUT, n_classes=str(n_classes))
        for name, arrays in parts.items():
            layout |= within(name if name in needed else f"{name}?", arrays, n_classes=str(n_classes))
        return layout

    def _restore(self, state: ModelState) -> None:
        self.feature_set_ = self._feature_set().restore(state.group("features"))
        self.phrases_ = SourcePhrases.from_arrays(state.group("phrases"))
        stored = {prefix: state.group(prefix) for prefix in ("rare-pairs", "global", "clusters")}
        self.rare_pairs_ = ClassCounts.from_arrays(stored["rare-pairs"]) if stored["rare-pairs"] else None
        self.global_ = restored_model(stored["global"]) if stored["global"] else None
        self.clusters_ = ClusterModel.from_arrays(stored["clusters"]) if stored["clusters"] else None
