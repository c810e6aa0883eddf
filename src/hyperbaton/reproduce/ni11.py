"""Ni, Saunders, Szedmak and Niranjan 2011: classification of phrase movements, and its effect on translation.

Cells `KIND-SIZE-REPEAT-ORIENTATIONS-MODEL`: a model trained on SIZE sentence pairs and tested on 1,000 others of the same
kind of text. `random` pairs come from the whole corpus, `contiguous` ones are adjacent, `repetitive` ones have the most
recurrent source 4-grams, since the paper's text repeats itself far more than ours. Figures are over all test samples and
over those whose source phrase has a sub-model (10 training samples): the paper's test sizes count no others.

Cells `translation-SIZE` translate random text, `translation-repetitive-SIZE` the repetitive part, with development and test
text from that part.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.classes import word_classes
from hyperbaton.corpus.files import write_pieces
from hyperbaton.evaluate import Classification
from hyperbaton.features import FEATURES
from hyperbaton.models import MODELS, OrientationModel
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.phrases import Occurrences, Samples, extract, near_samples
from hyperbaton.report.elements import Element
from hyperbaton.reproduce._corpora import PARTS, TWLAW, made_once, within
from hyperbaton.reproduce._experiments import search, search_options
from hyperbaton.reproduce._ni11_numbers import SIZES
from hyperbaton.reproduce._ni11_page import METRICS, ORIENTATIONS, Ni11Page, cell_name
from hyperbaton.reproduce._paper import Cell, Paper, PaperItem, Result, Results

LONGEST, FARTHEST = 8, 15  # words of a phrase, |d|
KNOWN = 10  # training samples of a source phrase that has a sub-model
BARE = "LR bare"
WORD_CLASSES = "word-classes"
MODELS_OF: dict[str, JsonObject] = {
    BARE: {"model": "lexicalized"},
    "LR": {"model": "lexicalized"},
    "MMR": {"model": "mmr"},
    "SVM": {"model": "svm"},
    "ME": {"model": "maxent"},
    "MMS": {"model": "mms"},
    "DPR": {"model": "dpr"},
    # With word classes on both sides, as in the paper's Table 3, and with the coverage.
    "MMS classes": {"model": "mms", WORD_CLASSES: 50},
    "DPR classes": {"model": "dpr", WORD_CLASSES: 50},
    "DPR possible": {"model": "dpr", "classes": "possible"},
}
REPEATS = 3


@dataclass(frozen=True)
class PaperSystem:
    """A system of Table 7: its title, the model used with the distance, and its fixed weights."""

    title: str
    model: JsonObject | None
    fix: dict[str, float] = field(default_factory=dict)


# Eq. 7 is the distance itself, made more or less expensive.
SCALED, INSTEAD = {"scaled": 1.0, "orientations": "three"}, {"Distortion0": 0.0}
MSD = {"model": "lexicalized", "orientations": "msd", "direction": "bidirectional", "max-distance": 0}
SYSTEMS = {
    "distance": PaperSystem("distance alone", None),
    "msd": PaperSystem("msd (Moses)", MSD),
    "dpr3": PaperSystem("DPR, 3 classes, eq. 7", {"model": "mms", **SCALED}, INSTEAD),
    "dpr5": PaperSystem("DPR, 5 classes, direct", {"model": "mms", "orientations": "five"}),
    "me3": PaperSystem("ME, 3 classes, eq. 7", {"model": "maxent", **SCALED}, INSTEAD),
    "me5": PaperSystem("ME, 5 classes, direct", {"model": "maxent", "orientations": "five"}),
}


class Ni11(Paper):
    """Distance phrase reordering by classification (Ni et al. 2011)."""

    title = "Ni et al. 2011: exploitation of machine learning techniques in modelling phrase movements"
    items = (
        PaperItem("Table 4", "phrase pairs of training and test sets"),
        PaperItem("Table 5", "F1 of three classes"),
        PaperItem("Table 6", "F1 of five classes"),
        PaperItem("Table 7", "translation with 50,000 sentence pairs"),
        PaperItem("Figure 8", "samples and features of clusters"),
        PaperItem("Figure 9", "the text, and how far phrases move"),
        PaperItem("Figure 10", "overall precision by training size"),
        PaperItem("Figure 11", "precision by distance"),
        PaperItem("Figure 12", "relative gains on phrases that move"),
        PaperItem("Figure 13", "cluster by cluster"),
        PaperItem("Figure 14", "phrase movements that MMS gets right"),
        PaperItem("Figure 15", "training time"),
        PaperItem("Figure 16", "translation by training size"),
    )
    differences = (
        "The text is the laws of Taiwan, not those of Hong Kong: 122 running words for each word type, the paper's 1,200. "
        "The repetitive part of it is nearer to the paper's.",
        "Word links are by eflomal, not GIZA++. Options are the defaults of the models; n-grams have up to 3 words.",
        "“known” are test samples whose source phrase has at least 10 training samples: the paper's test sizes grow with "
        "the training size, so it cannot have counted the others.",
        "LR bare answers from the phrase pair alone, and an unseen pair is monotone; LR backs off to the source phrase.",
    )

    def cells(self) -> Sequence[Cell]:
        cells = [Cell("statistics", {"sentences": self._sizes[0] if self.setting.quick else 0})]
        for kind, sizes in self._kinds.items():
            for size in sizes:
                for repeat in range(1, self._repeats + 1):
                    for orientations in ORIENTATIONS:
                        for model in MODELS_OF:
                            options = {"kind": kind, "size": size, "repeat": repeat, "name": model, "test": self._n_test}
                            name = cell_name(kind, size, repeat, orientations, model)
                            cells.append(Cell(name, {**options, "orientations": orientations, "options": MODELS_OF[model]}))
        clustered = self._sizes[min(1, len(self._sizes) - 1)]
        cells.append(Cell(f"clusters-{clustered}", {"size": clustered}))
        translated = {"": self._sizes, "repetitive-": self._kinds["repetitive"][:2]}
        if self.setting.quick:
            translated = {"": self._sizes[-1:]}
        cells += [
            Cell(
                f"translation-{kind}{size}",
                {"size": size, "runs": self._runs} | search_options(self.setting),
                experiment=True,
            )
            for kind, sizes in translated.items()
            for size in sizes
        ]
        # Smaller sizes first, for every kind of text.
        return sorted(cells, key=lambda cell: cell.options.get("size", 0))

    @property
    def _sizes(self) -> tuple[int, ...]:
        return (300, 600) if self.setting.quick else SIZES

    @property
    def _kinds(self) -> dict[str, tuple[int, ...]]:
        if self.setting.quick:
            return {"random": self._sizes, "repetitive": self._sizes[:1]}
        return {
            "random": self._sizes,
            "repetitive": self._sizes[:3],
            "contiguous": self._sizes[:3],
        }

    @property
    def _repeats(self) -> int:
        return 2 if self.setting.quick else REPEATS

    @property
    def _runs(self) -> int:
        return 1 if self.setting.quick else 3

    @property
    def _n_test(self) -> int:
        return 100 if self.setting.quick else 1000

    @cached_property
    def _text(self) -> Bitext:
        return within(TWLAW.training_text(self.setting, 2 * (max(self._sizes) + self._n_test)))

    def work(self, cell: Cell) -> Result:
        kind = cell.name.partition("-")[0]
        if kind == "statistics":
            return self._statistics()
        if kind == "clusters":
            return self._clusters(cell.options["size"])
        return self._classification(cell.options)

    @lru_cache(maxsize=1)  # noqa: B019 - consecutive cells use the same split, and the object lives as long as the work
    def _split(self, kind: str, size: int, repeat: int) -> tuple[Bitext, Bitext, Samples, Samples]:
        """Training and test text, and their samples."""
        seed = self.setting.seed + repeat - 1
        text = self._text.select(PARTS[kind](self._text, size + self._n_test, seed))
        if len(text) < size + self._n_test:
            raise OptionError(f"the text has {len(text)} sentence pairs, too few for {size} and {self._n_test}")
        parts = text.split({"test": self._n_test, "train": size}, seed=seed)
        samples = [near_samples(extract(parts[name], LONGEST, threads=self.setting.threads), FARTHEST) for name in parts]
        return parts["train"], parts["test"], samples[1], samples[0]

    def _model(self, name: str, orientations: str) -> OrientationModel:
        options = {"max-length": LONGEST, "max-distance": FARTHEST, "orientations": orientations, **MODELS_OF[name]}
        options.pop(WORD_CLASSES, None)
        model = from_mapping(MODELS[options.pop("model")], options)
        if not isinstance(model, OrientationModel):
            raise OptionError(f"{name} is not an orientation model")
        model.seed, model.threads = self.setting.seed, self.setting.threads
        return model

    def _classification(self, options: JsonObject) -> Result:
        train, test, samples, tested = self._split(options["kind"], options["size"], options["repeat"])
        model = self._model(options["name"], options["orientations"])
        annotations, started = self._annotations(train, options["options"]), time.process_time()
        model.fit(train, annotations, samples=samples)
        seconds = time.process_time() - started
        occurrences = Occurrences.of_samples(test, tested)
        logprobs = bare_logprobs(model, occurrences) if options["name"] == BARE else model.logprobs(occurrences)
        if model.classes == "possible":
            logprobs = possible_logprobs(logprobs, model.possible(test, tested))
        labels, moved, support = model.labels(tested), tested.distance_before, model.support(occurrences)
        known = np.zeros(len(labels), bool) if support is None else support >= KNOWN
        found = {
            "all": Classification.of(model.class_names, logprobs, labels, moved, support, model.class_counts_),
            "known": Classification.of(
                model.class_names, logprobs[known], labels[known], moved[known], None, model.class_counts_
            ),
        }
        kept = ("n", "overall_precision", "f1", "mean_logprob", "precision_by_distance", "n_by_distance")
        result: Result = {name: {key: part.as_json()[key] for key in kept} for name, part in found.items()}
        training = dict(zip(model.class_names, model.class_counts_.tolist(), strict=True))
        counted = dict(zip(model.class_names, found["known"].confusion.sum(axis=1).tolist(), strict=True))
        return {**result, "training": training, "test": counted, "processor_seconds": seconds}

    def _annotations(self, train: Bitext, options: JsonObject) -> Annotations:
        """Word classes of the training text, for models that need them."""
        if not (n := options.get(WORD_CLASSES)):
            return Annotations()
        source, target = (
            word_classes(side, n, runs=1, seed=self.setting.seed, threads=self.setting.threads)
            for side in (train.source, train.target)
        )
        return Annotations(source_classes=source, target_classes=target)

    def _statistics(self) -> Result:
        """NI11 Fig. 8 (b, c) and 9."""
        text = self._text.select(np.arange(min(len(self._text), 1200 if self.setting.quick else 50_000)))
        samples = extract(text, LONGEST, threads=self.setting.threads)
        distances, counts = np.unique(samples.distance_before, return_counts=True)
        occurrences = Occurrences.of_samples(text, samples)
        _, sizes = np.unique(occurrences.source_keys(), return_counts=True)
        edges = [1, 2, 10, 100, 1000, 10_000]
        features = {}
        for n in (len(text) // 8, len(text) // 4, len(text) // 2, len(text)):
            part = text.select(np.arange(n))
            feature_set = FEATURES.make("dpr")
            some = extract(part, LONGEST, threads=self.setting.threads)
            labels = np.zeros(len(some), np.uint8)
            feature_set.fit(Occurrences.of_samples(part, some), labels, 1, threads=self.setting.threads)
            features[str(len(some))] = feature_set.n_features
        whole = self._text
        return {
            "sentences": len(whole),
            "words": {"source": whole.source.n_tokens, "target": whole.target.n_tokens},
            "types": {"source": len(whole.source.vocabulary), "target": len(whole.target.vocabulary)},
            "distances": {str(d): int(n) for d, n in zip(distances, counts, strict=True) if abs(d) <= 40},
            "clusters": {str(low): int((sizes >= low).sum()) for low in edges},
            "features": features,
        }

    def _clusters(self, size: int) -> Result:
        """NI11 Fig. 13 and 14: accuracy by source phrase, of LR, ME and MMS; phrases with at least 10 test samples."""
        train, test, samples, tested = self._split("random", size, 1)
        occurrences = Occurrences.of_samples(test, tested)
        keys = occurrences.source_keys()
        phrases, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        right = {}
        for name in ("LR", "ME", "MMS"):
            model = self._model(name, "three").fit(train, samples=samples)
            is_right = model.logprobs(occurrences).argmax(axis=1) == model.labels(tested)
            right[name] = np.bincount(inverse, is_right, minlength=len(phrases)) / counts
            support = model.support(occurrences)
        n_train = np.zeros(len(keys), np.int64) if support is None else support
        rows: list[JsonObject] = []
        for at in np.flatnonzero((counts >= 10) & (n_train[first] >= KNOWN)).tolist():
            s = int(first[at])
            begin = int(tested.source_begin[s])
            words = test.source[int(tested.sentence[s])][begin : begin + int(tested.source_length[s])]
            values = {name: round(100 * float(share[at]), 1) for name, share in right.items()}
            rows.append({"phrase": " ".join(words), "training": int(n_train[s]), "test": int(counts[at]), **values})
        return {"clusters": sorted(rows, key=lambda row: -row["test"])[:1000]}

    def experiment(self, cell: Cell) -> JsonObject:
        quick = self.setting.quick
        size = cell.options["size"]
        if cell.name.startswith("translation-repetitive"):
            corpus = self._repetitive_corpus(size)
        else:
            generated = {"sentences": size + 60, "dev": 30, "test": 30}
            corpus = TWLAW.experiment_corpus(self.setting, size, generated, test_lines=1000)
        return {
            "corpus": corpus,
            "lm": {"order": 3 if quick else 4},
            "models": {name: system.model for name, system in SYSTEMS.items() if system.model},
            "translation": {
                "systems": {name: [name] if system.model else [] for name, system in SYSTEMS.items()},
                "fix": {name: system.fix for name, system in SYSTEMS.items() if system.fix},
                "limits": [6],
                "tuning-runs": cell.options["runs"],
                "baselines": ["msd"],
                "metrics": [metric.lower() for metric in METRICS],
                **search(self.setting, pop_limit=500, stack=200),
            },
        }

    def _repetitive_corpus(self, size: int) -> JsonObject:
        """`[corpus]` of an experiment on the repetitive part of the text."""
        sizes = {"test": self._n_test, "dev": self.setting.tuning_lines or self._n_test, "train": size}

        def make(folder: Path) -> None:
            text = self._text.select(PARTS["repetitive"](self._text, sum(sizes.values()), self.setting.seed))
            if len(text) < sum(sizes.values()):
                raise OptionError(f"the text has {len(text)} suitable sentence pairs, fewer than {sum(sizes.values())}")
            for split, part in text.split(sizes, seed=self.setting.seed).items():
                write_pieces(folder / f"{split}.source", part.source.pieces())
                write_pieces(folder / f"{split}.target", part.target.pieces())
                part.need_links().write(folder / f"{split}.links")

        name = "-".join(str(part) for part in ("repetitive", *sizes.values(), self.setting.seed))
        folder = made_once(self.setting.output / "texts" / name, make).resolve()
        columns = ("source", "target", "links")
        return {split: {column: str(folder / f"{split}.{column}") for column in columns} for split in sizes}

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        titles = {name: system.title for name, system in SYSTEMS.items()}
        return Ni11Page(results, self._kinds, self._repeats, tuple(MODELS_OF), titles).elements(item)


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
