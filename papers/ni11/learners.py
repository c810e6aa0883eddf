"""All learners, margins Δ and kernels on one split, two definitions of a row's length, and what further features add.

Every contender learns the same rows, the features of the paper's Table 3, for the source phrases that have a sub-model, and
is tested on the samples of these phrases. A paired t-test over test sentences compares each with the best of its group.
Further features are also added to a model over the classes that are possible, given the words translated so far.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.rows import Rows
from hyperbaton.corpus import Bitext
from hyperbaton.evaluate import Classification as Evaluation
from hyperbaton.learn import LEARNERS, ClusterModel
from hyperbaton.models import OrientationModel
from hyperbaton.models._discriminative import LEAST, Discriminative
from hyperbaton.models.shapes.orientation import with_own
from hyperbaton.phrases import Occurrences, Samples
from papers.ni11.cells import BY_TITLE, LawCell, SplitText, make_model, split_text
from papers.ni11.further import FURTHER, Further
from papers.protocol import Result, Setting
from papers.tables import paired_test

ME = "lbfgs:variance=0.1:max-passes=100:tolerance=0.001"
SVM = "svm:max-passes=200:tolerance=0.01:unit-length=yes"
CRAMMER_SINGER = f"{SVM}:kind=crammer-singer"
MMS = "psl:max-passes=100:unit-length=yes:validation=0.2"
MMR = "mmr:max-passes=200:unit-length=yes"
NEAR = {"three": "1 .5 0; .5 1 .5; 0 .5 1", "five": "1 .5 0 0 0; .5 1 .5 0 0; 0 .5 1 .5 0; 0 0 .5 1 .5; 0 0 0 .5 1"}
FEW = 100  # samples of a cluster that kernels are trained on


@dataclass(frozen=True)
class Contender:
    """A learner with its options, and what differs from the others; LR has no learner.

    `most` is the largest number of training samples of a cluster, 0 for all; `further` names further features; with
    `seen_length` the length of a row is that of the features which its cluster has seen. With `only_possible` it is trained
    and tested on the classes that the coverage allows.
    """

    group: str
    title: str
    learner: str
    most: int = 0
    further: tuple[str, ...] = ()
    seen_length: bool = False
    only_possible: bool = False


def all_learners(orientations: str) -> list[Contender]:
    """All learners; margins that are the same for three classes are left out there."""
    deltas = ["uniform", "ordered", "estimated"] + ["sides"] * (orientations == "five")
    learners = {
        "ME, L-BFGS": ME,
        "ME, GIS": "gis:variance=0.1:max-passes=30",
        "ME, IIS": "iis:variance=0.1:max-passes=30",
        "ME, SGD": "sgd:variance=0.1",
        "ME, dual": "dual_eg:variance=0.1",
        "ordinal, logistic": "ordinal:variance=0.1",
        "ordinal, margin": "ordinal:variance=0.1:loss=margin",
        "SVM, one against the rest": SVM,
        **{f"SVM, Crammer–Singer, Δ {delta}": f"{CRAMMER_SINGER}:delta={delta}" for delta in deltas},
        **{f"MMS, Δ {delta}": f"{MMS}:delta={delta}" for delta in deltas},
        "MMS, eq. 6, R = 10": "extragradient:max-passes=30:unit-length=yes:radius=10",
        "MMR": MMR,
        "MMR, kernel between classes": f"{MMR}:output-kernel={NEAR[orientations]}",
    }
    kernels = {
        "SVM": SVM,
        "MMR, linear": MMR,
        "MMR, polynomial, degree 2": f"{MMR}:kernel=polynomial",
        "MMR, Gaussian, γ = 1": f"{MMR}:kernel=gaussian",
    }
    lengths = {"MMS": f"{MMS}:delta=sides", "SVM": SVM, "MMR": MMR}
    return [
        *(Contender("learners", title, learner) for title, learner in {"LR": "", **learners}.items()),
        *(Contender(f"at most {FEW} samples of a cluster", title, learner, FEW) for title, learner in kernels.items()),
        *(
            Contender(f"length of a row, {title}", name, learner, seen_length=seen)
            for title, learner in lengths.items()
            for name, seen in {"all features": False, "features that the cluster has seen": True}.items()
        ),
    ]


def further_features(orientations: str) -> list[Contender]:
    """ME without and with each of the further features."""
    before = "known class of the phrase before"
    some = {"ME": (), "ME, all": tuple(FURTHER)}
    every = {**some, **{f"ME, {name}": (name,) for name in FURTHER}}
    possible = {**some, f"ME, {before}": (before,)}
    return [
        *(Contender("all classes", title, ME, further=names) for title, names in every.items()),
        *(Contender("possible classes", title, ME, further=names, only_possible=True) for title, names in possible.items()),
    ]


COMPARED = {"learners": all_learners, "further": further_features}


@dataclass(frozen=True)
class ContenderScore:
    """How well a contender predicts; `p` is against the best of its group, None for the best itself."""

    group: str
    title: str
    learner: str
    precision: float
    f1: float  # mean over classes
    mean_logprob: float
    processor_seconds: float
    p: float | None


@dataclass(frozen=True)
class LearnerTable(Result):
    """Scores in the order of the contenders, and the number of test samples."""

    scores: list[ContenderScore]
    n: int

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        return cls(**{**fields, "scores": [ContenderScore(**score) for score in fields["scores"]]})


@dataclass(frozen=True)
class LearnerComparison(LawCell[LearnerTable]):
    """Contenders on one split of random text: `what` is a key of `COMPARED`."""

    what: str
    size: int
    orientations: str
    contenders: tuple[Contender, ...]

    result_type: ClassVar[type[Result]] = LearnerTable

    @classmethod
    def of(cls, what: str, size: int, orientations: str) -> LearnerComparison:
        """The comparison of all its contenders."""
        return cls(what, size, orientations, tuple(COMPARED[what](orientations)))

    @property
    def name(self) -> str:
        return f"{self.what}-{self.size}-{self.orientations}"

    def work(self, setting: Setting) -> LearnerTable:
        split = ClusterSplit.of(self.size, self.orientations, setting)
        results = [split.result(contender) for contender in self.contenders]
        scores = []
        for contender, result in zip(self.contenders, results, strict=True):
            group = [other for of, other in zip(self.contenders, results, strict=True) if of.group == contender.group]
            best = max(group, key=lambda other: other.evaluation.overall_precision)
            scores.append(
                ContenderScore(
                    contender.group,
                    contender.title,
                    contender.learner,
                    result.evaluation.overall_precision,
                    float(np.mean(list(result.evaluation.f1.values()))),
                    result.evaluation.mean_logprob,
                    result.processor_seconds,
                    None if result is best else paired_test(result.by_sentence, best.by_sentence),
                )
            )
        return LearnerTable(scores, len(split.test.labels))


@dataclass(frozen=True)
class Part:
    """Samples of phrases that have a sub-model: rows, classes, clusters, and sentences; `chosen` are their numbers."""

    chosen: Array
    rows: Rows
    labels: Array
    clusters: Array
    sentences: Array
    possible: Array  # (n, n_classes)

    def select(self, keep: Array) -> Part:
        """Some of the samples, by number."""
        arrays = (array[keep] for array in (self.labels, self.clusters, self.sentences, self.possible))
        return Part(self.chosen[keep], self.rows.at(keep), *arrays)

    def with_columns(self, columns: Sequence[Array], width: int) -> Part:
        """With one more feature for each column: its category of a sample, below `width`."""
        rows, n = self.rows, len(columns)
        first = rows.n_features + width * np.arange(n)
        added = np.stack([column[self.chosen] for column in columns], axis=1) + first
        where = np.repeat(rows.indptr[1:], n)
        indices = np.insert(rows.indices, where, added.ravel().astype(rows.indices.dtype))
        longer = Rows(rows.indptr + n * np.arange(len(rows.indptr)), indices, rows.n_features + n * width)
        return replace(self, rows=longer)


@dataclass(frozen=True)
class ContenderResult:
    """A contender's predictions, the share of them that is right in each test sentence, and its time."""

    evaluation: Evaluation
    by_sentence: list[float]
    processor_seconds: float


@dataclass(frozen=True)
class ClusterSplit:
    """A split, with the rows of samples that have a sub-model."""

    setting: Setting
    text: SplitText
    orientations: str
    model: Discriminative  # ME; all contenders have its features
    further: Further
    train: Part
    test: Part

    @classmethod
    def of(cls, size: int, orientations: str, setting: Setting) -> ClusterSplit:
        """Extract the features of a split."""
        text = split_text(setting, "random", size, 1)
        model = fitted("ME", text.train, text.train_samples, orientations, setting)
        if not isinstance(model, Discriminative):
            raise OptionError("ME has no sub-models")

        def part(bitext: Bitext, samples: Samples) -> Part:
            known = model.known(Occurrences.of_samples(bitext, samples))
            clusters = model.phrases_.clusters_of(known.source_keys())
            chosen = np.flatnonzero(clusters >= 0)
            rows = model.feature_set_.rows(known.select(chosen), threads=setting.threads)
            labels = model.labels(samples)
            possible = with_own(model.possible(bitext, samples), labels)
            return Part(chosen, rows, *(part[chosen] for part in (labels, clusters, samples.sentence, possible)))

        train, test = part(text.train, text.train_samples), part(text.test, text.test_samples)
        return cls(setting, text, orientations, model, Further(text, size, model, setting), train, test)

    def result(self, contender: Contender) -> ContenderResult:
        """Train a contender, and test it."""
        train, test = self.train, self.test
        if contender.further:
            columns = [self.further.categories(name) for name in contender.further]
            width = 1 + max(int(max(a.max(), b.max())) for a, b in columns)
            train, test = (part.with_columns([pair[k] for pair in columns], width) for k, part in enumerate((train, test)))
        if contender.most:
            train = train.select(at_most(contender.most, train.clusters, self.setting.seed))
        started = time.process_time()
        if not contender.learner:
            scores, seconds = self._frequencies(contender, started)
        else:
            scores, seconds = self._scores(contender, train, test, started)
        if contender.only_possible:
            scores = np.where(test.possible, scores, -np.inf)
        names, frequency = self.model.class_names, self.model.class_counts_
        evaluation = Evaluation.of(names, numeric.log_softmax(scores), test.labels, np.zeros(len(scores)), None, frequency)
        frequent = np.argsort(-frequency, kind="stable")
        right = frequent[scores[:, frequent].argmax(axis=1)] == test.labels
        counts = np.bincount(test.sentences)
        shares = np.bincount(test.sentences, right)[counts > 0] / counts[counts > 0]
        return ContenderResult(evaluation, shares.tolist(), seconds)

    def _frequencies(self, contender: Contender, started: float) -> tuple[Array, float]:
        lr = fitted(contender.title, self.text.train, self.text.train_samples, self.orientations, self.setting)
        occurrences = Occurrences.of_samples(self.text.test, self.text.test_samples).select(self.test.chosen)
        return lr.logprobs(occurrences), time.process_time() - started

    def _scores(self, contender: Contender, train: Part, test: Part, started: float) -> tuple[Array, float]:
        learner = LEARNERS.make(contender.learner)
        learner.seed, learner.threads = self.setting.seed, self.setting.threads
        n_classes, n_clusters = len(self.model.class_names), self.model.phrases_.n_clusters
        if ":kernel=" in contender.learner:
            return kernel_scores(contender.learner, train, test, n_classes), time.process_time() - started
        prior = np.maximum(train.possible, LEAST) if contender.only_possible else None
        sub_models = learner.fit_clusters(train.rows, train.labels, train.clusters, n_classes, n_clusters, prior=prior)
        seconds = time.process_time() - started
        if contender.seen_length:
            return scores_of_seen_length(sub_models, test.rows, test.clusters, self.setting.threads), seconds
        return sub_models.scores(test.rows, test.clusters, self.setting.threads), seconds


def fitted(title: str, bitext: Bitext, samples: Samples, orientations: str, setting: Setting) -> OrientationModel:
    """The model of a classifier, trained."""
    return make_model(BY_TITLE[title], orientations, setting).fit(bitext, samples=samples)


def at_most(n: int, clusters: Array, seed: int) -> Array:
    """The numbers of at most n rows of each cluster, at random."""
    order = np.lexsort((np.random.default_rng(seed).random(len(clusters)), clusters))
    in_order = clusters[order]
    place = np.arange(len(order)) - np.searchsorted(in_order, in_order)
    return np.sort(order[place < n])


def kernel_scores(learner: str, train: Part, test: Part, n_classes: int) -> Array:
    """Scores of test rows by a learner with a kernel, trained for one cluster after another."""
    scores = np.zeros((len(test.labels), n_classes))
    order = np.argsort(train.clusters, kind="stable")
    starts = np.searchsorted(train.clusters[order], np.arange(train.clusters.max() + 2))
    for cluster in np.unique(test.clusters).tolist():
        ours, theirs = order[starts[cluster] : starts[cluster + 1]], np.flatnonzero(test.clusters == cluster)
        rows = [train.rows.at(ours), test.rows.at(theirs)]
        features, indices = np.unique(np.concatenate([part.indices for part in rows]), return_inverse=True)
        small = np.split(indices.astype(np.int32), [len(rows[0].indices)])
        known, asked = (Rows(part.indptr, some, len(features)) for part, some in zip(rows, small, strict=True))
        scores[theirs] = LEARNERS.make(learner).fit(known, train.labels[ours], n_classes).scores(asked)
    return scores


def scores_of_seen_length(sub_models: ClusterModel, rows: Rows, clusters: Array, threads: int) -> Array:
    """Scores with rows scaled to length 1 over the features that the cluster has seen, instead of all features."""
    width = rows.n_features + 1
    owners = np.repeat(np.arange(sub_models.n_clusters), np.diff(sub_models.offsets))
    keys = owners * width + sub_models.features  # increasing

    def find(wanted: Array) -> tuple[Array, Array]:
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return at, keys[at] == wanted

    n = np.diff(rows.indptr)
    _, seen = find(np.repeat(clusters.astype(np.int64), n) * width + rows.indices)
    n_seen = np.bincount(np.repeat(np.arange(len(n)), n), seen, minlength=len(n))
    at, has_constant = find(clusters.astype(np.int64) * width + rows.n_features)
    constant = np.where(has_constant[:, None], sub_models.weights[at], 0)
    scores = sub_models.scores(rows, clusters, threads)
    longer: Array = constant + (scores - constant) * np.sqrt(n / np.maximum(n_seen, 1))[:, None]
    return longer
