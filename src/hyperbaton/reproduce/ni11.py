"""Ni, Saunders, Szedmak and Niranjan 2011: classification of phrase movements, and what it does for translation.

Cells `KIND-SIZE-REPEAT-ORIENTATIONS-MODEL`: a model trained on so many sentence pairs and tested on 1,000 others of the
same kind of text. `random` pairs come from the whole corpus, `contiguous` ones are neighbours, `repetitive` ones have the
source 4-grams that recur most, since the paper's text repeats itself far more than ours. Figures are over all test samples
and over those whose source phrase has a sub-model (10 training samples): the paper's test sizes count no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Bitext
from hyperbaton.evaluate import Classification, paired_test
from hyperbaton.features import FEATURES
from hyperbaton.models import MODELS, OrientationModel
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.phrases import Occurrences, Samples, extract, near_samples
from hyperbaton.report.classification import draw_by_distance, draw_by_size
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.elements import Element, Number, Picture, Text
from hyperbaton.report.figures import draw_lines
from hyperbaton.report.movements import draw_distance_shares
from hyperbaton.reproduce._corpora import PARTS, TWLAW, within
from hyperbaton.reproduce._experiments import search, search_options, translation_table
from hyperbaton.reproduce._page import PAPER, mean, table
from hyperbaton.reproduce._paper import Cell, Item, Paper, Result, Results

LONGEST, FARTHEST = 8, 15  # words of a phrase, |d|
KNOWN = 10  # training samples of a source phrase that has a sub-model
BARE = "LR bare"
MODELS_OF: dict[str, dict[str, Any]] = {
    BARE: {"model": "lexicalized"},
    "LR": {"model": "lexicalized"},
    "MMR": {"model": "mmr"},
    "SVM": {"model": "svm"},
    "ME": {"model": "maxent"},
    "MMS": {"model": "mms"},
    "DPR": {"model": "dpr"},
}
ORIENTATIONS = ("three", "five")
SIZES = (20_000, 50_000, 100_000, 150_000, 185_000)
REPEATS = 3
SYSTEMS = {
    "distance": "distance alone",
    "msd": "msd (Moses)",
    "dpr3": "DPR, 3 classes, eq. 7",
    "dpr5": "DPR, 5 classes, direct",
    "me3": "ME, 3 classes, eq. 7",
    "me5": "ME, 5 classes, direct",
}
METRICS = ("WER", "BLEU", "NIST", "METEOR")

# The paper's numbers. Tables 5 and 6: F1 of LR, MMR, SVM, ME, MMS by class and size.
LEARNERS = ("LR", "MMR", "SVM", "ME", "MMS")
F1: dict[str, dict[str, tuple[tuple[float, ...], ...]]] = {
    "three": {
        "d<0": (
            (57.2, 63.7, 64.1, 63.9, 64.7),
            (58.5, 65.6, 65.8, 65.9, 67.4),
            (61.6, 69.6, 70.6, 71.8, 74.2),
            (63.8, 72.3, 73.0, 75.3, 76.5),
            (63.3, 72.2, 73.1, 75.7, 76.8),
        ),
        "d=0": (
            (80.1, 83.6, 84.3, 83.7, 84.7),
            (80.0, 83.4, 84.5, 84.5, 85.5),
            (81.7, 85.7, 87.0, 87.8, 88.6),
            (83.0, 86.8, 88.1, 89.0, 89.9),
            (82.9, 86.9, 88.2, 89.5, 90.3),
        ),
        "d>0": (
            (44.2, 55.9, 56.6, 55.6, 58.1),
            (44.3, 54.9, 56.7, 56.1, 59.3),
            (48.4, 63.6, 65.1, 66.5, 68.7),
            (51.4, 64.7, 66.5, 68.5, 70.8),
            (49.2, 64.9, 66.5, 69.6, 71.5),
        ),
    },
    "five": {
        "d≤-5": (
            (40.9, 46.2, 47.2, 45.6, 47.0),
            (41.0, 46.5, 48.1, 47.5, 49.6),
            (46.9, 54.7, 56.3, 57.3, 58.7),
            (47.6, 57.1, 58.9, 60.5, 62.1),
            (47.8, 57.6, 59.3, 61.8, 63.4),
        ),
        "-5<d<0": (
            (35.0, 44.6, 45.2, 46.6, 47.6),
            (40.8, 52.3, 52.4, 53.8, 55.5),
            (43.3, 55.3, 56.1, 58.7, 60.9),
            (47.8, 60.8, 61.8, 65.1, 66.1),
            (45.7, 59.2, 61.0, 64.8, 66.0),
        ),
        "d=0": (
            (79.9, 83.6, 84.0, 83.9, 84.7),
            (80.0, 83.7, 84.3, 84.4, 85.5),
            (81.4, 86.0, 86.8, 87.6, 88.6),
            (82.7, 87.2, 87.9, 88.8, 89.8),
            (82.7, 87.2, 88.2, 89.5, 90.4),
        ),
        "0<d<5": (
            (13.4, 39.2, 42.8, 41.0, 46.3),
            (22.0, 44.5, 47.6, 45.5, 50.8),
            (19.2, 50.9, 53.6, 54.6, 58.1),
            (23.8, 50.2, 54.4, 56.8, 60.4),
            (19.6, 47.8, 51.4, 56.2, 60.0),
        ),
        "d≥5": (
            (41.4, 47.9, 50.7, 49.9, 50.8),
            (39.4, 49.5, 50.9, 50.8, 55.4),
            (47.0, 59.9, 61.2, 62.7, 64.5),
            (48.8, 62.0, 63.8, 65.2, 67.1),
            (49.4, 62.9, 64.9, 67.2, 68.8),
        ),
    },
}
# Table 4: thousands of phrase pairs in training and test by class and size; the 4.1 M at 20 K of the paper are 0.41 M.
PAIRS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "d<0": ((170, 450, 820, 1250, 1630), (13, 16, 16, 17, 17)),
    "d=0": ((410, 1110, 2100, 3300, 4040), (28, 33, 34, 38, 38)),
    "d>0": ((120, 320, 610, 900, 1110), (9, 10, 11, 11, 11)),
    "d≤-5": ((80, 200, 380, 560, 700), (6.0, 6.5, 7.3, 7.5, 7.4)),
    "-5<d<0": ((90, 250, 440, 690, 830), (7.0, 9.5, 8.7, 9.5, 9.6)),
    "0<d<5": ((40, 100, 200, 270, 310), (2.5, 2.8, 2.5, 2.4, 2.2)),
    "d≥5": ((80, 220, 410, 630, 800), (6.5, 7.2, 8.5, 8.6, 8.8)),
}
TABLE_7 = {
    "msd": (24.3, 44.5, 8.73, 66.1),
    "dpr3": (24.6, 47.1, 9.04, 66.4),
    "dpr5": (24.7, 47.5, 9.03, 66.1),
    "me3": (25.3, 46.17, 8.72, 65.0),
    "me5": (26.0, 45.0, 8.49, 63.9),
}


class Ni11(Paper):
    """Distance phrase reordering by classification (Ni et al. 2011)."""

    title = "Ni et al. 2011: exploitation of machine learning techniques in modelling phrase movements"
    items = (
        Item("Table 4", "phrase pairs of training and test sets"),
        Item("Table 5", "F1 of three classes"),
        Item("Table 6", "F1 of five classes"),
        Item("Table 7", "translation with 50,000 sentence pairs"),
        Item("Figure 8", "samples and features of clusters"),
        Item("Figure 9", "the text, and how far phrases move"),
        Item("Figure 10", "overall precision by training size"),
        Item("Figure 11", "precision by distance"),
        Item("Figure 12", "relative gains on phrases that move"),
        Item("Figure 13", "cluster by cluster"),
        Item("Figure 14", "phrase movements that MMS gets right"),
        Item("Figure 15", "training time"),
        Item("Figure 16", "translation by training size"),
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
                            name = f"{kind}-{size}-{repeat}-{orientations}-{model}".replace(" ", "_")
                            cells.append(Cell(name, {**options, "orientations": orientations, "options": MODELS_OF[model]}))
        clustered = self._sizes[min(1, len(self._sizes) - 1)]
        cells.append(Cell(f"clusters-{clustered}", {"size": clustered}))
        translated = self._sizes[-1:] if self.setting.quick else self._sizes
        cells += [
            Cell(f"translation-{size}", {"size": size, "runs": self._runs} | search_options(self.setting), experiment=True)
            for size in translated
        ]
        # The smaller first, whatever the kind of text.
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
            "repetitive": self._sizes[:2],
            "contiguous": self._sizes[:2],
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

    @lru_cache(maxsize=1)  # noqa: B019 - cells that follow each other have the same split, and the object lives as long as the work
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
        model = from_mapping(MODELS[options.pop("model")], options)
        if not isinstance(model, OrientationModel):
            raise OptionError(f"{name} is no model of orientations")
        model.seed, model.threads = self.setting.seed, self.setting.threads
        return model

    def _classification(self, options: dict[str, Any]) -> Result:
        train, test, samples, tested = self._split(options["kind"], options["size"], options["repeat"])
        model = self._model(options["name"], options["orientations"]).fit(train, samples=samples)
        occurrences = Occurrences.of_samples(test, tested)
        logprobs = bare_logprobs(model, occurrences) if options["name"] == BARE else model.logprobs(occurrences)
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
        return {**result, "training": training, "test": counted, "train_seconds": model.train_seconds_}

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
        """NI11 Fig. 13 and 14: right by source phrase, of LR, ME and MMS; phrases with 10 test samples at least."""
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
        rows: list[dict[str, Any]] = []
        for at in np.flatnonzero((counts >= 10) & (n_train[first] >= KNOWN)).tolist():
            s = int(first[at])
            begin = int(tested.source_begin[s])
            words = test.source[int(tested.sentence[s])][begin : begin + int(tested.source_length[s])]
            values = {name: round(100 * float(share[at]), 1) for name, share in right.items()}
            rows.append({"phrase": " ".join(words), "training": int(n_train[s]), "test": int(counts[at]), **values})
        return {"clusters": sorted(rows, key=lambda row: -row["test"])[:1000]}

    def experiment(self, cell: Cell) -> dict[str, Any]:
        quick = self.setting.quick
        generated = {"sentences": cell.options["size"] + 60, "dev": 30, "test": 30}
        corpus = TWLAW.experiment_corpus(self.setting, cell.options["size"], generated, test_lines=1000)
        scaled = {"scaled": 1.0, "orientations": "three"}
        return {
            "corpus": corpus,
            "lm": {"order": 3 if quick else 4},
            "models": {
                "msd": {"model": "lexicalized", "orientations": "msd", "direction": "bidirectional", "max-distance": 0},
                "dpr3": {"model": "mms", **scaled},
                "dpr5": {"model": "mms", "orientations": "five"},
                "me3": {"model": "maxent", **scaled},
                "me5": {"model": "maxent", "orientations": "five"},
            },
            "translation": {
                "systems": {
                    "distance": [],
                    "msd": ["msd"],
                    "dpr3": ["dpr3"],
                    "dpr5": ["dpr5"],
                    "me3": ["me3"],
                    "me5": ["me5"],
                },
                # Eq. 7 is the distance itself, made dearer or cheaper.
                "fix": {"dpr3": {"Distortion0": 0}, "me3": {"Distortion0": 0}},
                "limits": [6],
                "tuning-runs": cell.options["runs"],
                "baselines": ["msd"],
                "metrics": [metric.lower() for metric in METRICS],
                **search(self.setting, pop_limit=500, stack=200),
            },
        }

    def elements(self, item: Item, results: Results) -> list[Element]:
        number = item.name.split()[1]
        if item.name.startswith("Table"):
            return {"4": self._table_4, "5": self._table_5, "6": self._table_6, "7": self._table_7}[number](results)
        made = {
            "8": self._figure_8,
            "9": self._figure_9,
            "10": self._figure_10,
            "11": self._figure_11,
            "12": self._figure_12,
            "13": self._figure_13,
            "14": self._figure_14,
            "15": self._figure_15,
            "16": self._figure_16,
        }
        return made[number](results)

    def _repeats_of(self, results: Results, kind: str, size: int, orientations: str, model: str) -> list[Result]:
        names = [f"{kind}-{size}-{r}-{orientations}-{model}".replace(" ", "_") for r in range(1, self._repeats + 1)]
        return [results[name] for name in names if name in results]

    def _values(self, results: Results, kind: str, size: int, orientations: str, model: str, *path: str) -> list[float]:
        values = []
        for found in self._repeats_of(results, kind, size, orientations, model):
            value: Any = found
            for key in path:
                value = value[key]
            values.append(float(value))
        return values

    def _paper_index(self, size: int) -> int | None:
        return SIZES.index(size) if size in SIZES else None

    def _table_4(self, results: Results) -> list[Element]:
        groups = []
        for kind, sizes in self._kinds.items():
            rows: list[list[TableCell]] = []
            for size in sizes:
                for orientations in ORIENTATIONS:
                    found = self._repeats_of(results, kind, size, orientations, "LR")
                    for name in found[0]["training"] if found else []:
                        at = self._paper_index(size)
                        theirs = [None, None] if at is None else [Number(PAIRS[name][0][at]), Number(PAIRS[name][1][at], 1)]
                        ours = [mean([one[part][name] / 1000 for one in found]) for part in ("training", "test")]
                        rows.append([f"{size:,}", name, *ours, *theirs])
            if rows:
                groups.append((f"{kind} text", rows))
        columns = [
            "sentence pairs",
            "class",
            "training, thousands",
            "known test, thousands",
            f"{PAPER}: training",
            f"{PAPER}: test",
        ]
        return [table("table-4", "Phrase pairs, in thousands.", columns, groups)] if groups else []

    def _table_5(self, results: Results) -> list[Element]:
        return self._f1_tables("table-5", results, "three")

    def _table_6(self, results: Results) -> list[Element]:
        return self._f1_tables("table-6", results, "five")

    def _f1_tables(self, key: str, results: Results, orientations: str) -> list[Element]:
        elements: list[Element] = []
        for kind, sizes in self._kinds.items():
            for part in ("known", "all"):
                groups = []
                for name, theirs in F1[orientations].items():
                    rows: list[list[TableCell]] = []
                    for size in sizes:
                        cells = [
                            mean(self._values(results, kind, size, orientations, m, part, "f1", name)) for m in MODELS_OF
                        ]
                        if not any(cell is not None for cell in cells):
                            continue
                        rows.append([f"{size:,}", *cells])
                        at = self._paper_index(size)
                        if at is not None and part == "known":
                            paper = dict(zip(LEARNERS, theirs[at], strict=True))
                            rows.append([PAPER, *(Number(paper[m], 1) if m in paper else None for m in MODELS_OF)])
                    if rows:
                        rows.append(["p against MMS", *self._p_values(results, kind, sizes, orientations, part, name)])
                        groups.append((name, rows))
                if groups:
                    caption = f"F1 by class, {kind} text, {part} phrases."
                    elements.append(table(f"{key}-{kind}-{part}", caption, ["", *MODELS_OF], groups))
        return elements

    def _p_values(
        self, results: Results, kind: str, sizes: Sequence[int], orientations: str, part: str, name: str
    ) -> list[TableCell]:
        cells: list[TableCell] = []
        for model in MODELS_OF:
            pairs = []
            for size in sizes:
                best, other = (self._values(results, kind, size, orientations, m, part, "f1", name) for m in ("MMS", model))
                pairs += list(zip(best, other, strict=False)) if len(best) == len(other) else []
            p = paired_test([a for a, _ in pairs], [b for _, b in pairs]) if model != "MMS" else None
            cells.append(None if p is None else f"{p:.1e}")
        return cells

    def _figure_10(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for orientations in ORIENTATIONS:
            for kind, sizes in self._kinds.items():
                lines, groups = {}, []
                for part in ("known", "all"):
                    rows: list[list[TableCell]] = []
                    for size in sizes:
                        cells = [
                            mean(self._values(results, kind, size, orientations, m, part, "overall_precision"), 2)
                            for m in MODELS_OF
                        ]
                        if any(cell is not None for cell in cells):
                            rows.append([f"{size:,}", *cells])
                    if rows:
                        groups.append((f"{part} phrases", rows))
                for model in MODELS_OF:
                    points = []
                    for size in sizes:
                        cell = mean(self._values(results, kind, size, orientations, model, "known", "overall_precision"), 2)
                        if isinstance(cell, Number):
                            points.append((size / 1000, cell.value, cell.spread or 0.0))
                    if points:
                        lines[model] = points
                if groups:
                    name = f"figure-10-{kind}-{orientations}"
                    caption = f"Overall precision (%), {orientations} classes, {kind} text."
                    note = "The paper's MMS is ahead of LR by 8.5 points on average (three classes) and 8.7 (five)."
                    elements.append(table(name, caption, ["sentence pairs", *MODELS_OF], groups, note))
                    elements.append(
                        Picture(f"{name}-lines", f"{caption} Known phrases.", draw_by_size(lines, "precision (%)"))
                    )
        return elements

    def _figure_11(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for kind, sizes in self._kinds.items():
            size = max((s for s in sizes if self._repeats_of(results, kind, s, "five", "MMS")), default=None)
            if size is None:
                continue
            found = {m: self._repeats_of(results, kind, size, "five", m) for m in ("LR", "ME", "MMS", "DPR")}
            lines = {
                m: {int(d): v for d, v in one[0]["known"]["precision_by_distance"].items()}
                for m, one in found.items()
                if one
            }
            caption = (
                f"Precision by distance, five classes, {kind} text, {size:,} sentence pairs, known phrases, one repeat."
            )
            elements.append(Picture(f"figure-11-{kind}", caption, draw_by_distance(lines)))
        return elements

    def _figure_12(self, results: Results) -> list[Element]:
        groups = []
        others = ("LR", "MMR", "SVM", "ME")
        for kind, sizes in self._kinds.items():
            rows: list[list[TableCell]] = []
            for orientations in ORIENTATIONS:
                moving = [name for name in F1[orientations] if name != "d=0"]
                for size in sizes:
                    row: list[TableCell] = [f"{orientations}, {size:,}"]
                    for other in others:
                        gains = []
                        for name in moving:
                            ours = self._values(results, kind, size, orientations, "MMS", "known", "f1", name)
                            theirs = self._values(results, kind, size, orientations, other, "known", "f1", name)
                            gains += [100 * (a - b) / max(b, 1e-9) for a, b in zip(ours, theirs, strict=False)]
                        row.append(mean(gains))
                    if any(cell is not None for cell in row[1:]):
                        rows.append(row)
                        at = self._paper_index(size)
                        if at is not None:
                            paper = [
                                float(
                                    np.mean(
                                        [
                                            100 * (F1[orientations][n][at][4] / F1[orientations][n][at][k] - 1)
                                            for n in moving
                                        ]
                                    )
                                )
                                for k in range(4)
                            ]
                            rows.append([PAPER, *(Number(value, 1) for value in paper)])
            if rows:
                groups.append((f"{kind} text", rows))
        caption = (
            "Relative gains (%) of MMS in F1 of the classes that move, known phrases; the paper's from its tables 5 and 6."
        )
        return [table("figure-12", caption, ["classes, sentence pairs", *others], groups)] if groups else []

    def _cluster_rows(self, results: Results) -> list[dict[str, Any]]:
        return next((found["clusters"] for name, found in results.items() if name.startswith("clusters-")), [])

    def _figure_13(self, results: Results) -> list[Element]:
        rows = self._cluster_rows(results)
        if not rows:
            return []
        cells: list[list[TableCell]] = []
        for other in ("LR", "ME"):
            gain = np.array([row["MMS"] - row[other] for row in rows])
            cells.append([f"MMS − {other}", *(Number(int(n)) for n in ((gain > 10).sum(), (gain < -10).sum(), len(gain)))])
        columns = ["", "clusters 10 points better", "10 points worse", "clusters"]
        caption = "Clusters of which MMS gets more or fewer samples right; three classes, at least 10 test samples."
        return [table("figure-13", caption, columns, [("", cells)])]

    def _figure_14(self, results: Results) -> list[Element]:
        rows = sorted(self._cluster_rows(results), key=lambda row: row["LR"] - row["MMS"])[:5]
        if not rows:
            return []
        cells: list[list[TableCell]] = [
            [
                row["phrase"],
                *(
                    Number(row[name], 0 if name in ("training", "test") else 1)
                    for name in ("training", "test", "LR", "ME", "MMS")
                ),
            ]
            for row in rows
        ]
        caption = "The source phrases on which MMS gains most over LR: samples, and percent right."
        return [table("figure-14", caption, ["source phrase", "training", "test", "LR", "ME", "MMS"], [("", cells)])]

    def _figure_15(self, results: Results) -> list[Element]:
        groups = []
        learners = ("MMR", "SVM", "ME", "MMS")
        for orientations in ORIENTATIONS:
            rows: list[list[TableCell]] = []
            for size in self._sizes:
                cells = [mean(self._values(results, "random", size, orientations, m, "train_seconds")) for m in learners]
                if any(cell is not None for cell in cells):
                    rows.append([f"{size:,}", *cells])
            if rows:
                groups.append((f"{orientations} classes", rows))
        caption = "Seconds to train, features included; in the paper MMS is the fastest, SVM the slowest."
        return [table("figure-15", caption, ["sentence pairs", *learners], groups)] if groups else []

    def _figure_8(self, results: Results) -> list[Element]:
        found = results.get("statistics")
        if found is None:
            return []
        rows: list[list[TableCell]] = [[f"≥ {int(low):,}", Number(n)] for low, n in found["clusters"].items()]
        features = {"features": {int(n): float(count) for n, count in found["features"].items()}}
        return [
            table("figure-8", "Source phrases by training samples.", ["training samples", "source phrases"], [("", rows)]),
            Picture(
                "figure-8-features",
                "Features by training samples.",
                draw_lines(features, {}, "training samples", "features"),
            ),
        ]

    def _figure_9(self, results: Results) -> list[Element]:
        found = results.get("statistics")
        if found is None:
            return []
        distances = {int(d): float(n) for d, n in found["distances"].items()}
        near = sum(n for d, n in distances.items() if 0 < abs(d) < 4) / max(sum(n for d, n in distances.items() if d), 1)
        short = sum(n for d, n in distances.items() if abs(d) < 4) / max(sum(distances.values()), 1)
        rows: list[list[TableCell]] = [
            ["sentence pairs", Number(found["sentences"]), Number(216_250)],
            ["running words, source", Number(found["words"]["source"]), Number(9_760_000)],
            ["running words, target", Number(found["words"]["target"]), Number(7_000_000)],
            ["word types, source", Number(found["types"]["source"]), Number(8_129)],
            ["word types, target", Number(found["types"]["target"]), Number(23_025)],
            ["|d| < 4, of all phrase pairs (%)", Number(100 * short, 1), Number(62)],
            ["|d| < 4, of those that move (%)", Number(100 * near, 1), None],
        ]
        picture = Picture("figure-9-distances", "Phrase pairs by distance.", draw_distance_shares(distances))
        return [table("figure-9", "The text.", ["", "ours", PAPER], [("", rows)]), picture]

    def _table_7(self, results: Results) -> list[Element]:
        size = 50_000 if 50_000 in self._sizes else self._sizes[-1]
        found = results.get(f"translation-{size}")
        if found is None:
            return []
        ours = translation_table("table-7", "Translation.", {f"{size:,} sentence pairs": found}, SYSTEMS, "msd", METRICS)
        rows: list[list[TableCell]] = [
            [SYSTEMS[name], *(Number(value, 2) for value in values)] for name, values in TABLE_7.items()
        ]
        return [ours, table("table-7-paper", "The paper's.", ["", *METRICS], [("", rows)])]

    def _figure_16(self, results: Results) -> list[Element]:
        found = {
            f"{size:,} sentence pairs": results[name] for size in self._sizes if (name := f"translation-{size}") in results
        }
        if not found:
            return []
        text = Text(
            "In the paper DPR is ahead of Moses in BLEU from 50,000 pairs on, the more the larger; with 20,000 it is not."
        )
        return [translation_table("figure-16", "Translation by training size.", found, SYSTEMS, "msd", METRICS), text]


def bare_logprobs(model: OrientationModel, occurrences: Occurrences) -> Any:
    """LR without a back-off: relative frequencies of the phrase pair, and monotone order for a pair that was not seen."""
    if not isinstance(model, Lexicalized) or model.pairs_ is None:
        raise OptionError("only a lexicalized model has frequencies of phrase pairs")
    counts = model.pairs_.at(model.known(occurrences).pair_keys()).astype(np.float64)
    counts[counts.sum(axis=1) == 0, model.class_names.index("d=0")] = 1
    with np.errstate(divide="ignore"):
        return numeric.log(counts / counts.sum(axis=1, keepdims=True))
