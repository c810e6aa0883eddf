"""Figures 13 and 14: how many samples of each cluster three classifiers get right, and what the cluster looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.models import OrientationModel
from hyperbaton.models._discriminative import Discriminative, cluster_part
from hyperbaton.phrases import Occurrences
from hyperbaton.report.pair_text import Box, read_pair, smallest
from papers.ni11.cells import BY_TITLE, MAX_LENGTH, MIN_SUPPORT, LawCell, SplitText, make_model, split_text
from papers.protocol import Result, Setting

LEAST_TESTED = 10  # test samples of a cluster
MOST_CLUSTERS = 1000
N_SAMPLES, N_WEIGHTS, N_WORDS = 4, 8, 5  # shown of a cluster, and words on each side of a sample
N_EXAMPLES = 5


@dataclass(frozen=True)
class ClusterSample:
    """A test sample: the words around the phrase, the target phrase, and the true and the predicted classes."""

    context: tuple[str, str]
    target: str
    label: str
    predicted: dict[str, str]


@dataclass(frozen=True)
class Cluster:
    """A source phrase: its numbers of training samples, of different translations in them, and of test samples.

    `correct` is the percentage of test samples that each classifier gets right; `weights` are the features of MMS whose
    weights differ most between the classes, relative to their mean.
    """

    phrase: str
    training: int
    translations: int
    test: int
    correct: dict[str, float]
    samples: list[ClusterSample]
    weights: dict[str, list[float]]

    def gain(self, classifier: str) -> float:
        """Points that MMS gets right above another classifier."""
        return self.correct["MMS"] - self.correct[classifier]

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        """The cluster that was stored."""
        return cls(**{**fields, "samples": [ClusterSample(**sample) for sample in fields["samples"]]})


@dataclass(frozen=True)
class ClusterTable(Result):
    """Clusters, those with most test samples first, and sentences with phrases whose movement only MMS predicts.

    The sentences are objects that a report can draw (`SentenceBrowser`).
    """

    clusters: list[Cluster]
    classes: list[str]
    examples: list[JsonObject]

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        return cls(**{**fields, "clusters": [Cluster.from_json(cluster) for cluster in fields["clusters"]]})


@dataclass(frozen=True)
class Clusters(LawCell[ClusterTable]):
    """Accuracy by source phrase, of phrases with at least 10 training and 10 test samples."""

    size: int
    classifiers: tuple[str, ...] = ("LR", "ME", "MMS")

    result_type: ClassVar[type[Result]] = ClusterTable

    @property
    def name(self) -> str:
        return f"clusters-{self.size}"

    def work(self, setting: Setting) -> ClusterTable:
        text = split_text(setting, "random", self.size, 1)
        occurrences = Occurrences.of_samples(text.test, text.test_samples)
        _, first, cluster_of, counts = np.unique(
            occurrences.source_keys(), return_index=True, return_inverse=True, return_counts=True
        )
        predicted = {}
        for title in self.classifiers:
            model = make_model(BY_TITLE[title], "three", setting).fit(text.train, samples=text.train_samples)
            predicted[title] = model.logprobs(occurrences).argmax(axis=1)
        # The last classifier is MMS.
        if not isinstance(model, Discriminative):
            raise OptionError("the last classifier has no sub-models")
        labels, known = model.labels(text.test_samples), model.known(occurrences)
        support = model.counts_of(occurrences).sum(axis=1)
        sub_models = model.phrases_.clusters_of(known.source_keys())
        translations = n_translations(model, text, first)
        tested = Tested(text, cluster_of, labels, predicted, model.class_names)
        clusters = {}
        for at in np.argsort(-counts, kind="stable").tolist():
            sample = int(first[at])
            if counts[at] >= LEAST_TESTED and support[sample] >= MIN_SUPPORT:
                clusters[at] = Cluster(
                    phrase=tested.phrase(sample),
                    training=int(support[sample]),
                    translations=int(translations[at]),
                    test=int(counts[at]),
                    correct=tested.correct(at),
                    samples=tested.samples(at),
                    weights=largest_weights(model, int(sub_models[sample])),
                )
            if len(clusters) == MOST_CLUSTERS:
                break
        best = sorted(clusters, key=lambda at: -clusters[at].gain("LR"))[:N_EXAMPLES]
        examples = [example for at in best if (example := tested.example(at)) is not None]
        return ClusterTable(list(clusters.values()), list(model.class_names), examples)


@dataclass(frozen=True)
class Tested:
    """Test samples, the number of the cluster of each, their true classes, and those that each classifier predicts."""

    text: SplitText
    cluster_of: Array
    labels: Array
    predicted: dict[str, Array]
    class_names: tuple[str, ...]

    def correct(self, cluster: int) -> dict[str, float]:
        """The percentage of samples of a cluster that each classifier gets right."""
        rows = self.cluster_of == cluster
        shares = {title: np.mean(classes[rows] == self.labels[rows]) for title, classes in self.predicted.items()}
        return {title: round(100 * float(share), 1) for title, share in shares.items()}

    def phrase(self, sample: int) -> str:
        """The source phrase of a sample."""
        sentence, box = self._box(sample)
        return " ".join(self.text.test.source[sentence][slice(*box.source)])

    def samples(self, cluster: int) -> list[ClusterSample]:
        """Some samples of a cluster, from different sentences; those come first on which LR and MMS differ."""
        rows = np.flatnonzero(self.cluster_of == cluster)
        same = self.predicted["LR"][rows] == self.predicted["MMS"][rows]
        by_sentence: dict[int, int] = {}
        for row in rows[np.argsort(same, kind="stable")].tolist():
            by_sentence.setdefault(int(self.text.test_samples.sentence[row]), row)
        return list(map(self._sample, list(by_sentence.values())[:N_SAMPLES]))

    def _sample(self, row: int) -> ClusterSample:
        sentence, box = self._box(row)
        source, target = self.text.test.source[sentence], self.text.test.target[sentence]
        begin, end = box.source
        context = " ".join(source[max(begin - N_WORDS, 0) : begin]), " ".join(source[end : end + N_WORDS])
        classes = {title: self.class_names[int(of[row])] for title, of in self.predicted.items()}
        return ClusterSample(
            context, " ".join(target[slice(*box.target)]), self.class_names[int(self.labels[row])], classes
        )

    def example(self, cluster: int) -> JsonObject | None:
        """The shortest sentence with a sample whose movement MMS predicts and LR does not, as its phrase pairs in order."""
        moves = self.labels != self.class_names.index("d=0")
        right = (self.predicted["MMS"] == self.labels) & (self.predicted["LR"] != self.labels)
        rows = np.flatnonzero((self.cluster_of == cluster) & moves & right)
        if len(rows) == 0:
            return None
        row = int(rows[np.argmin(self.text.test.source.lengths[self.text.test_samples.sentence[rows]])])
        sentence, box = self._box(row)
        source, target, _, boxes = read_pair(self.text.test, sentence, MAX_LENGTH)
        segments = [{"source": list(one.source), "target": target[slice(*one.target)]} for one in _around(box, boxes)]
        order = {"system": "order of translation", "segments": segments}
        return {"id": f"with {self.phrase(row)}", "source": source, "reference": target, "hypotheses": [order]}

    def _box(self, row: int) -> tuple[int, Box]:
        sample = self.text.test_samples.item(row)
        return sample.sentence, Box(sample.source_span, sample.target_span, sample.distance_before)


def _around(box: Box, boxes: list[Box]) -> list[Box]:
    """A phrase pair, and the smallest ones that overlap neither it nor each other, in target order."""
    chosen = [box]
    for other in smallest(boxes):
        if not any(_overlap(other.source, one.source) or _overlap(other.target, one.target) for one in chosen):
            chosen.append(other)
    return sorted(chosen, key=lambda one: one.target)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def n_translations(model: OrientationModel, text: SplitText, samples: Array) -> Array:
    """The number of different target phrases in training of the source phrases of some test samples."""
    train = model.known(Occurrences.of_samples(text.train, text.train_samples))
    _, first = np.unique(train.pair_keys(), return_index=True)
    sources, counts = np.unique(train.select(first).source_keys(), return_counts=True)
    keys = model.known(Occurrences.of_samples(text.test, text.test_samples).select(samples)).source_keys()
    at = np.minimum(np.searchsorted(sources, keys), len(sources) - 1)
    return np.where(sources[at] == keys, counts[at], 0)


def largest_weights(model: Discriminative, cluster: int) -> dict[str, list[float]]:
    """The features of a sub-model whose weights differ most between classes, relative to their mean."""
    if model.clusters_ is None:
        return {}
    part, features = cluster_part(model.clusters_, cluster), model.feature_set_
    relative = part.weights - part.weights.mean(axis=1, keepdims=True)
    largest = np.argsort(-np.abs(relative).max(axis=1), kind="stable")[:N_WEIGHTS]
    vocabularies = model.source_vocabulary_, model.target_vocabulary_
    rows = zip(part.features[largest].tolist(), relative[largest].astype(np.float64).round(3).tolist(), strict=True)
    return {"always" if f == features.n_features else features.describe(f, *vocabularies): row for f, row in rows}
