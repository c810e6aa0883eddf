"""Learners with margins Δ between classes, given or estimated from the data.

"How to learn Δ" is future work in NI11 §5. Ours: train with Δ = 1 on one half of the rows, count the confusions on the
other, and vice versa; the margin between classes that are easily confused is small (`delta_from_confusions`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.options import option
from hyperbaton.learn._learner import Learner, TrainingExamples
from hyperbaton.learn._matrices import delta_from_confusions, delta_matrix, matrix_text
from hyperbaton.learn._rows import split_rows


@dataclass(eq=False)
class DeltaLearner(Learner):
    """A learner whose margins depend on the true class and the other one."""

    delta: str = option("uniform", "margins between classes: uniform, sides, ordered, estimated, or rows like '0 1; 1 0'")

    def _delta(self, training: TrainingExamples) -> Array:
        """The margins to train with; kept as `delta_`."""
        if self.delta == "estimated":
            self.delta_ = delta_from_confusions(self._confusions(training, None))
        else:
            self.delta_ = delta_matrix(self.delta, training.n_classes)
        return self.delta_

    def _needs_all_clusters(self) -> bool:
        return self.delta == "estimated"

    def _cluster_trainer(self, training: TrainingExamples, clusters: Array) -> _core.Trainer:
        if self.delta != "estimated":
            return self._trainer(training)
        # One Δ for all clusters, from the confusions of all: a cluster alone is too small to tell.
        self.delta_ = delta_from_confusions(self._confusions(training, clusters))
        return dataclasses.replace(self, delta=matrix_text(self.delta_))._trainer(training)

    def _confusions(self, training: TrainingExamples, clusters: Array | None) -> Array:
        """Counts (true class, predicted class), with each row predicted by a model that was not trained on it."""
        n = training.n_classes
        first = np.random.default_rng(self.seed).random(len(training.labels)) < 0.5
        counts = np.zeros((n, n))
        learner = dataclasses.replace(self, delta="uniform")
        for here in (first, ~first):
            if not here.any() or here.all():
                continue
            rows, others = split_rows(training.chunks, here), split_rows(training.chunks, ~here)
            labels, truth = training.labels[here], training.labels[~here]
            if clusters is None:
                predicted = learner.fit(rows, labels, n_classes=n).predict(others)
            else:
                n_clusters = int(clusters.max(initial=-1)) + 1
                model = learner.fit_clusters(rows, labels, clusters[here], n_classes=n, n_clusters=n_clusters)
                in_cluster = clusters[~here] >= 0
                predicted, truth = model.predict(others, clusters[~here])[in_cluster], truth[in_cluster]
            np.add.at(counts, (truth, predicted), 1)
        return counts
