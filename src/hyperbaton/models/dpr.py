"""Distance phrase reordering with a global model as the prior of its sub-models.

NI11 leaves phrases with few samples to class frequencies, and their sub-models share nothing. Here one global model g
sees the context and the phrase itself, and the sub-model of a source phrase learns only a correction of g:

    p(o | s, t) ∝ p_g(o | s, t) · exp(w_{s,o} · φ)                                    `prior`

a maximum entropy model with g as its reference distribution; a phrase without a sub-model gets g's distribution. Weights
of the coverage (`--features context:coverage=true`) are learned given g, and the sub-models given both. The alternative,
with separately trained sub-models and n_s samples of the phrase, is

    log p(o | s, t) = λ log p_s + (1 − λ) log p_g + const,   λ = n_s / (n_s + κ)      `interpolate`

Its features are those of the set `context`, not of `dpr`: the latter is NI11's Table 3, for sub-models that need not see
their own source phrase. g must see it.

Most weights are small and add up to little. `prune` drops them after training: a feature from a sub-model where its weights
of all classes are small, and from the feature space, with its weights in g, where they are also small in g and no
sub-model uses it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.options import option
from hyperbaton.base.scratch import Scratch
from hyperbaton.features import FEATURES, FeatureSet, TrainingRows
from hyperbaton.learn import LEARNERS, ROWS_TOGETHER, ClusterModel, Learner, LinearModel
from hyperbaton.models._discriminative import LEAST, Discriminative, Evidence, cluster_part, global_part
from hyperbaton.models.shapes.orientation import LogProbs, TrainingSamples
from hyperbaton.phrases import Occurrences
from hyperbaton.phrases.occurrences import Keys


@dataclass(eq=False)
class Dpr(Discriminative):
    """A global model, and a correction of it for each frequent source phrase; our best orientation model."""

    phases: ClassVar = {"phrase pairs": 1, "features": 2, "global model": 4, "sub-models": 6}

    features: str | FeatureSet = option(
        "context",
        "feature set and its options; + joins sets; with the set dpr alone the global model does not see the source phrase",
        plugins=FEATURES,
    )
    learner: str | Learner = option(
        "lbfgs:variance=0.03:max-passes=50:tolerance=0.001", "learner of the sub-models and its options", plugins=LEARNERS
    )
    global_learner: str | Learner = option(
        "sgd:variance=0.02:max-passes=5", "learner of the global model and its options", plugins=LEARNERS
    )
    combination: str = option(
        "prior", "how the sub-models are combined with the global model", choices=("prior", "interpolate")
    )
    kappa: float = option(300.0, "κ: number of samples at which a sub-model weighs as much as the global model", minimum=0)
    prune: float = option(
        0.0,
        "drop features whose weights of all classes are smaller than this, also in each sub-model; 0 keeps all",
        minimum=0,
    )

    def _learn(self, training: TrainingSamples, rows: TrainingRows, clusters: Array) -> None:
        self.global_ = whole = self._fit_global(self._learner("global_learner"), training, rows)
        self.clusters_ = None

        def reference(rows: Any) -> Array:
            probabilities: Array = numeric.exp(numeric.log_softmax(whole.scores(rows, self.threads)))
            return np.maximum(probabilities, LEAST)

        def reference_at(samples: slice) -> Array:
            parts = (
                range(at, min(at + ROWS_TOGETHER, samples.stop)) for at in range(samples.start, samples.stop, ROWS_TOGETHER)
            )
            return np.concatenate([reference(rows.at(np.array(part, np.uint32))) for part in parts])

        self._fit_coverage(training, reference_at)
        if self.scope == "clusters" and self.phrases_.n_clusters:
            behind = reference if self.combination == "prior" else None
            self.clusters_ = self._fit_clusters(self._learner(), training, rows, clusters, behind)
        if self.prune:
            self._drop_small_weights(training.resources.scratch)

    def _drop_small_weights(self, scratch: Scratch) -> None:
        """Drop features from each sub-model, then from the feature space those that no model needs."""
        if self.clusters_ is not None:
            self.clusters_ = self.clusters_.prune(self.prune, scratch)
        scaled = self.clusters_ is not None and self.clusters_.unit_length
        if not isinstance(self.global_, LinearModel) or self.global_.unit_length or scaled:
            return  # all features count: in a kernel, or in the length of a row
        needed = self.global_.large(self.prune, scratch)
        if self.clusters_ is not None:
            needed |= self.clusters_.used_features(scratch)
        kept = self.feature_set_.keep(needed, scratch)
        self.global_ = self.global_.keep(kept, scratch)
        if self.clusters_ is not None:
            self.clusters_ = self.clusters_.keep(kept, scratch)

    def _layout(self) -> dict[str, str]:
        return self._layout_with({"global"})

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        if self.global_ is None:
            raise AttributeError("the global model is missing")
        rows = self.feature_set_.rows(occurrences, threads=self.threads or None)
        whole = numeric.log_softmax(self.global_.scores(rows, self.threads))
        if self.clusters_ is None:
            return whole
        keys = occurrences.source_keys(self._resources)
        clusters = self.phrases_.clusters_of(keys)
        corrections = self.clusters_.scores(rows, clusters, self.threads)
        if self.combination == "prior":
            return numeric.log_softmax(whole + corrections)
        weight = self._share(keys, self.clusters_)[:, None]
        return numeric.log_softmax(weight * numeric.log_softmax(corrections) + (1 - weight) * whole)

    def _share(self, keys: Keys, sub_models: ClusterModel) -> Array:
        """λ of each source phrase, 0 for one without a sub-model, or with one that has lost all features by pruning."""
        has_features = np.append(np.diff(sub_models.offsets) > 0, False)  # the last is for phrases without a sub-model
        n = np.where(has_features[self.phrases_.clusters_of(keys)], self.phrases_.counts.at(keys).sum(axis=1), 0)
        return n / np.maximum(n + self.kappa, 1)

    def _parts(self, key: Keys) -> list[Evidence]:
        cluster = int(self.phrases_.clusters_of(key)[0])
        if not isinstance(self.global_, LinearModel) or self.clusters_ is None or cluster < 0:
            return super()._parts(key)
        share = float(self._share(key, self.clusters_)[0])
        ours, others = (1.0, 1.0) if self.combination == "prior" else (share, 1 - share)
        return [cluster_part(self.clusters_, cluster, ours), global_part(self.global_, others)]
