"""The work of NI11: classifiers trained and tested, statistics of the text, and systems compared."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.classes import word_classes
from hyperbaton.corpus.files import write_pieces
from hyperbaton.evaluate import Classification as Evaluation
from hyperbaton.models import MODELS, OrientationModel
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.models.mms import Mms
from hyperbaton.phrases import Occurrences, Samples, extract, near_samples
from papers.corpora import PARTS, TWLAW, made_once, within
from papers.experiments import Experiment, search_options
from papers.ni11.numbers import SIZES
from papers.protocol import Computation, R_co, Result, Setting

MAX_LENGTH, MAX_DISTANCE = 8, 15  # words of a phrase, |d|
MIN_SUPPORT = 10  # training samples of a source phrase that has a sub-model
ORIENTATIONS = ("three", "five")
METRICS = ("WER", "BLEU", "NIST", "METEOR")


@dataclass(frozen=True)
class Classifier:
    """A column of Tables 5 and 6: a model of the package and what differs from its defaults."""

    title: str
    model: str
    back_off: bool = True  # to the source phrase, for unseen phrase pairs
    n_word_classes: int = 0  # on both sides, as in the paper's Table 3
    only_possible: bool = False  # normalised over the classes that the coverage allows


CLASSIFIERS = (
    Classifier("LR bare", "lexicalized", back_off=False),
    Classifier("LR", "lexicalized"),
    Classifier("MMR", "mmr"),
    Classifier("SVM", "svm"),
    Classifier("ME", "maxent"),
    Classifier("MMS", "mms"),
    Classifier("DPR", "dpr"),
    Classifier("MMS classes", "mms", n_word_classes=50),
    Classifier("DPR classes", "dpr", n_word_classes=50),
    Classifier("DPR possible", "dpr", only_possible=True),
)
BY_TITLE = {classifier.title: classifier for classifier in CLASSIFIERS}


@dataclass(frozen=True)
class Scale:
    """How much of everything is done."""

    sizes: tuple[int, ...] = SIZES  # sentence pairs of random text
    kinds: dict[str, tuple[int, ...]] = field(
        default_factory=lambda: {"random": SIZES, "repetitive": SIZES[:3], "contiguous": SIZES[:3]}
    )
    translated: dict[str, tuple[int, ...]] = field(default_factory=lambda: {"random": SIZES, "repetitive": SIZES[:2]})
    clustered: tuple[int, ...] = (50_000, 150_000)  # sentence pairs of Figures 13 and 14
    n_repeats: int = 3
    n_test: int = 1000
    n_statistics: int = 50_000
    n_tuning_runs: int = 3

    @classmethod
    def of(cls, setting: Setting) -> Scale:
        """The paper's, or a small one."""
        if not setting.quick:
            return cls()
        return cls((300, 600), {"random": (300, 600), "repetitive": (300,)}, {"random": (600,)}, (600,), 2, 100, 1200, 1)


@lru_cache(maxsize=1)  # consecutive cells use the same text
def law_text(setting: Setting) -> Bitext:
    """Sentence pairs of laws, or generated ones, within the limits on length."""
    scale = Scale.of(setting)
    return within(TWLAW.training_text(setting, 2 * (max(scale.sizes) + scale.n_test)))


@dataclass(frozen=True)
class SplitText:
    """Training and test text, and their phrase pairs with distances."""

    train: Bitext
    test: Bitext
    train_samples: Samples
    test_samples: Samples


@lru_cache(maxsize=1)
def split_text(setting: Setting, kind: str, size: int, repeat: int) -> SplitText:
    """A part of the text, divided into training and test text."""
    seed, n_test = setting.seed + repeat - 1, Scale.of(setting).n_test
    text = law_text(setting)
    text = text.select(PARTS[kind](text, size + n_test, seed))
    if len(text) < size + n_test:
        raise OptionError(f"the text has {len(text)} sentence pairs, too few for {size} and {n_test}")
    parts = text.split({"test": n_test, "train": size}, seed=seed)
    test, train = (
        near_samples(extract(part, MAX_LENGTH, threads=setting.threads), MAX_DISTANCE) for part in parts.values()
    )
    return SplitText(parts["train"], parts["test"], train, test)


@dataclass(frozen=True)
class LawCell(Computation[R_co]):
    """A cell that reads the training text of the laws."""

    def corpus_files(self, data: Path) -> list[Path]:
        return list(TWLAW.files(data, "train").values())


@dataclass(frozen=True)
class Accuracy:
    """How well the classes of test samples are predicted (in percent), over all of them, by class and by distance."""

    n: int
    overall_precision: float
    f1: dict[str, float]
    mean_logprob: float
    precision_by_distance: dict[str, float]
    n_by_distance: dict[str, int]

    @classmethod
    def of(cls, evaluation: Evaluation) -> Accuracy:
        """The figures that the page needs."""
        figures: JsonObject = evaluation.as_json()
        return cls(**{part.name: figures[part.name] for part in fields(cls)})


@dataclass(frozen=True)
class ClassificationResult(Result):
    """Accuracy over all test samples and over those of known source phrases, and samples by class."""

    all: Accuracy
    known: Accuracy
    training: dict[str, int]
    test: dict[str, int]  # of known source phrases
    processor_seconds: float

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        return cls(**{**fields, "all": Accuracy(**fields["all"]), "known": Accuracy(**fields["known"])})


@dataclass(frozen=True)
class Classification(LawCell[ClassificationResult]):
    """One repeat of a cell of Tables 4, 5 and 6 and Figures 10, 11, 12 and 15: a classifier trained and tested."""

    kind: str
    size: int
    repeat: int
    orientations: str
    classifier: Classifier

    result_type: ClassVar[type[Result]] = ClassificationResult

    @property
    def name(self) -> str:
        title = self.classifier.title.replace(" ", "_")
        return f"{self.kind}-{self.size}-{self.repeat}-{self.orientations}-{title}"

    def work(self, setting: Setting) -> ClassificationResult:
        text = split_text(setting, self.kind, self.size, self.repeat)
        model = make_model(self.classifier, self.orientations, setting)
        annotations = self._annotations(text.train, setting)
        started = time.process_time()
        model.fit(text.train, annotations, samples=text.train_samples)
        processor_seconds = time.process_time() - started
        occurrences = Occurrences.of_samples(text.test, text.test_samples)
        logprobs = model.logprobs(occurrences) if self.classifier.back_off else bare_logprobs(model, occurrences)
        if self.classifier.only_possible:
            logprobs = possible_logprobs(logprobs, model.possible(text.test, text.test_samples))
        labels, distances = model.labels(text.test_samples), text.test_samples.distance_before
        support, names, counts = model.support(occurrences), model.class_names, model.class_counts_
        known = np.zeros(len(labels), bool) if support is None else support >= MIN_SUPPORT
        over_all = Evaluation.of(names, logprobs, labels, distances, support, counts)
        over_known = Evaluation.of(names, logprobs[known], labels[known], distances[known], None, counts)
        return ClassificationResult(
            all=Accuracy.of(over_all),
            known=Accuracy.of(over_known),
            training=dict(zip(names, counts.tolist(), strict=True)),
            test=dict(zip(names, over_known.confusion.sum(axis=1).tolist(), strict=True)),
            processor_seconds=processor_seconds,
        )

    def _annotations(self, train: Bitext, setting: Setting) -> Annotations:
        """Word classes of the training text, for classifiers that need them."""
        n = self.classifier.n_word_classes
        if not n:
            return Annotations()
        source, target = (
            word_classes(side, n, runs=1, seed=setting.seed, threads=setting.threads)
            for side in (train.source, train.target)
        )
        return Annotations(source_classes=source, target_classes=target)


def make_model(classifier: Classifier, orientations: str, setting: Setting) -> OrientationModel:
    """The untrained model of a classifier."""
    options: JsonObject = {"max-length": MAX_LENGTH, "max-distance": MAX_DISTANCE, "orientations": orientations}
    if classifier.only_possible:
        options["classes"] = "possible"
    model = from_mapping(MODELS[classifier.model], options)
    if not isinstance(model, OrientationModel):
        raise OptionError(f"{classifier.title} is not an orientation model")
    model.seed, model.threads = setting.seed, setting.threads
    return model


def bare_logprobs(model: OrientationModel, occurrences: Occurrences) -> numeric.Floats:
    """LR without a back-off: relative frequencies of the phrase pair, and monotone order for an unseen pair."""
    if not isinstance(model, Lexicalized) or model.pairs_ is None:
        raise OptionError("only a lexicalized model has frequencies of phrase pairs")
    counts = model.pairs_.at(model.known(occurrences).pair_keys()).astype(np.float64)
    counts[counts.sum(axis=1) == 0, model.class_names.index("d=0")] = 1
    with np.errstate(divide="ignore"):
        return np.asarray(numeric.log(counts / counts.sum(axis=1, keepdims=True)))


def possible_logprobs(logprobs: numeric.Floats, possible: npt.NDArray[np.bool_]) -> numeric.Floats:
    """Log-probabilities, normalised over the classes that are possible given the coverage."""
    return numeric.log_softmax(np.where(possible, logprobs, -1e9))


@dataclass(frozen=True)
class TextStatistics(Result):
    """Sizes of the text, and its phrase pairs by distance, by samples of their source phrase, and by features.

    `features` has for clusters of n to 2n samples, by n: the number of clusters, that of those with more features than
    samples, and the first decile, median and last decile of their numbers of features.
    """

    sentences: int
    words: dict[str, int]
    types: dict[str, int]
    distances: dict[str, int]  # phrase pairs by distance
    clusters: dict[str, int]  # source phrases by their least number of samples
    features: dict[str, list[float]]


@dataclass(frozen=True)
class Statistics(LawCell[TextStatistics]):
    """Figures 8 (b, c) and 9, of some sentence pairs."""

    size: int

    result_type: ClassVar[type[Result]] = TextStatistics

    @property
    def name(self) -> str:
        return "statistics"

    def work(self, setting: Setting) -> TextStatistics:
        laws = law_text(setting)
        text = laws.select(np.arange(min(len(laws), self.size)))
        samples = extract(text, MAX_LENGTH, threads=setting.threads)
        distances, counts = np.unique(samples.distance_before, return_counts=True)
        _, cluster_sizes = np.unique(Occurrences.of_samples(text, samples).source_keys(), return_counts=True)
        return TextStatistics(
            sentences=len(laws),
            words={"source": laws.source.n_tokens, "target": laws.target.n_tokens},
            types={"source": len(laws.source.vocabulary), "target": len(laws.target.vocabulary)},
            distances={str(d): int(n) for d, n in zip(distances, counts, strict=True) if abs(d) <= 40},
            clusters={str(low): int((cluster_sizes >= low).sum()) for low in (1, 2, 10, 100, 1000, 10_000)},
            features=features_of_clusters(text, near_samples(samples, MAX_DISTANCE), setting),
        )


def features_of_clusters(text: Bitext, samples: Samples, setting: Setting) -> dict[str, list[float]]:
    """`TextStatistics.features`: every feature counts, as in the paper."""
    model = Mms(features="dpr:min-count=1", learner="psl:max-passes=1:intercept=no", min_cluster=MIN_SUPPORT)
    model.threads = setting.threads
    model.fit(text, samples=samples)
    if model.clusters_ is None:
        raise OptionError("the model has no sub-models")
    n_features = np.diff(model.clusters_.offsets)
    n_samples = model.phrases_.counts.counts.sum(axis=1)[model.phrases_.clusters >= 0]
    by_samples = {}
    for n in MIN_SUPPORT * 2 ** np.arange(20):
        here = (n_samples >= n) & (n_samples < 2 * n)
        if here.any():
            more = int((n_features[here] > n_samples[here]).sum())
            by_samples[str(n)] = [int(here.sum()), more, *np.percentile(n_features[here], (10, 50, 90)).tolist()]
    return by_samples


@dataclass(frozen=True)
class PaperSystem:
    """A system of Table 7: its title, the model used with the distance, and its fixed weights."""

    title: str
    model: JsonObject | None
    fixed: dict[str, float] = field(default_factory=dict)


# The model replaces both the table and the distance: eq. 7 is the distance itself, made more or less expensive.
SCALED, NO_DISTANCE = {"scaled": 1.0, "orientations": "three"}, {"Distortion0": 0.0}
MSD = {"model": "lexicalized", "orientations": "msd", "direction": "bidirectional", "max-distance": 0}
SYSTEMS = {
    "distance": PaperSystem("distance alone", None),
    "msd": PaperSystem("msd (Moses)", MSD),
    "dpr3": PaperSystem("DPR, 3 classes, eq. 7", {"model": "mms", **SCALED}, NO_DISTANCE),
    "dpr5": PaperSystem("DPR, 5 classes, direct", {"model": "mms", "orientations": "five"}, NO_DISTANCE),
    "me3": PaperSystem("ME, 3 classes, eq. 7", {"model": "maxent", **SCALED}, NO_DISTANCE),
    "me5": PaperSystem("ME, 5 classes, direct", {"model": "maxent", "orientations": "five"}, NO_DISTANCE),
}


@dataclass(frozen=True)
class SystemComparison(Experiment):
    """Table 7 and Figure 16: systems that differ in the reordering model."""

    kind: str
    size: int

    @property
    def name(self) -> str:
        return f"translation-{self.size}" if self.kind == "random" else f"translation-{self.kind}-{self.size}"

    def identity(self, setting: Setting) -> JsonObject:
        return {**super().identity(setting), "systems": {name: asdict(system) for name, system in SYSTEMS.items()}}

    def corpus_files(self, data: Path) -> list[Path]:
        return TWLAW.experiment_files(data) if self.kind == "random" else list(TWLAW.files(data, "train").values())

    def experiment(self, setting: Setting) -> JsonObject:
        if self.kind == "repetitive":
            corpus = self._repetitive_corpus(setting)
        else:
            corpus = TWLAW.experiment_corpus(setting, self.size, n_generated=self.size, n_test=1000)
        return {
            "corpus": corpus,
            "lm": {"order": 3 if setting.quick else 4},
            "models": {name: system.model for name, system in SYSTEMS.items() if system.model},
            "translation": {
                "systems": {name: [name] if system.model else [] for name, system in SYSTEMS.items()},
                "fix": {name: system.fixed for name, system in SYSTEMS.items() if system.fixed},
                "limits": [6],
                "tuning-runs": Scale.of(setting).n_tuning_runs,
                "baselines": ["msd"],
                "metrics": [metric.lower() for metric in METRICS],
                **search_options(setting, pop_limit=500, stack=200),
            },
        }

    def _repetitive_corpus(self, setting: Setting) -> dict[str, JsonObject]:
        """`[corpus]` of an experiment on the repetitive part of the text."""
        n_test = Scale.of(setting).n_test
        sizes = {"test": n_test, "dev": setting.tuning_lines or n_test, "train": self.size}
        total = sum(sizes.values())

        def write(folder: Path) -> None:
            laws = law_text(setting)
            text = laws.select(PARTS["repetitive"](laws, total, setting.seed))
            if len(text) < total:
                raise OptionError(f"the text has {len(text)} suitable sentence pairs, fewer than {total}")
            for split, part in text.split(sizes, seed=setting.seed).items():
                write_pieces(folder / f"{split}.source", part.source.pieces())
                write_pieces(folder / f"{split}.target", part.target.pieces())
                part.need_links().write(folder / f"{split}.links")

        name = "-".join(map(str, ("repetitive", *sizes.values(), setting.seed)))
        folder = made_once(setting.output / "texts" / name, write).resolve()
        columns = ("source", "target", "links")
        return {split: {column: str(folder / f"{split}.{column}") for column in columns} for split in sizes}
