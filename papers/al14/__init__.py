"""Alrajeh and Niranjan 2014: one multinomial logistic model for all phrase pairs, trained on the primal and on the dual.

Cells `classification-SIZE-LEARNER`: each in its own process, so that its peak memory is measured separately; 100 passes
each, as in the paper. Cells `generated-SAMPLES-LEARNER`: likewise on generated text with about SAMPLES samples, up to the
paper's 47 million, for time and memory. Cells `translation-CORPUS`: systems that differ only in the reordering model;
`translation-CORPUS-whole`: some of them, trained on the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.memory import peak_mib
from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS
from hyperbaton.phrases import extract
from hyperbaton.report.elements import CaptionedFigure, Element, Number, Table
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import draw_lines
from papers.corpora import TATOEBA, TWLAW, made_once, random_part, within
from papers.experiments import Experiment, ExperimentResult, search_options, translation_table
from papers.processes import in_process
from papers.protocol import Cell, Computation, Paper, PaperItem, Result, Results, Setting
from papers.tables import THEIRS, paper_table, table

PASSES = 100
FEATURES = "aligned_words:min-count=11"  # "features that occur more than 10 times"
MAX_LENGTH = 7  # words of a phrase


@dataclass(frozen=True)
class Learner:
    """A row of Table 2: a model and the learner with its settings."""

    name: str
    model: str
    settings: str

    @property
    def options(self) -> JsonObject:
        """The model's options; one model for all phrase pairs, also on the primal."""
        scope = {"scope": "global"} if self.model == "maxent" else {}
        return {"model": self.model, "learner": f"{self.settings}:variance=0.1:max-passes={PASSES}", **scope}


PRIMAL = Learner("primal", "maxent", "sgd:tolerance=0")
DUAL, *OTHERS = (Learner(f"dual-{epsilon}", "dual_mlr", f"dual_eg:epsilon={epsilon}") for epsilon in ("0.1", "1", "0.01"))
LITERAL = [replace(dual, name=f"literal-{dual.name}", settings=f"{dual.settings}:literal=yes") for dual in (DUAL, *OTHERS)]
LEARNERS = (PRIMAL, DUAL, *OTHERS, *LITERAL)
# Minutes and error rate, Table 2; BLEU on MT06 and MT08, Table 3.
TABLE_2 = {"primal": (69, 17.81), "dual-0.1": (18, 17.95), "dual-1": (13, 21.13), "dual-0.01": (22, 17.89)}
TABLE_3 = {"msd": (30.86, 34.22), "primal": (31.37, 34.85), "dual": (31.36, 34.87)}


@dataclass(frozen=True)
class Classifier:
    """A row of Table 3: a learner, and options of the model and of its use in a system."""

    title: str
    learner: Learner = DUAL
    features: str = FEATURES
    options: tuple[tuple[str, object], ...] = (("weights-per-class", True),)

    @property
    def model(self) -> JsonObject:
        """The model's table of an experiment file."""
        return {**self.learner.options, "features": self.features, **dict(self.options)}


WITH_BOTH = f"{FEATURES}+dpr+statistical"
FREQUENT = (("weights-per-class", True), ("min-pair-count", 2))
AVERAGED = (("table", True),)
CLASSIFIERS = {
    "primal": Classifier("primal", PRIMAL),
    "dual": Classifier("dual, ε = 0.1"),
    "dual-counts": Classifier("dual, with log p of the table", features=f"{FEATURES}+statistical"),
    "dual-context": Classifier("dual, with context features", features=f"{FEATURES}+dpr"),
    "dual-both": Classifier("dual, with both", features=WITH_BOTH),
    "dual-frequent": Classifier("dual, pairs with 2 samples", options=FREQUENT),
    "dual-all": Classifier("dual, with both, pairs with 2 samples", features=WITH_BOTH, options=FREQUENT),
    "table-dual": Classifier("dual, averaged as a table", options=AVERAGED),
    "table-both": Classifier("dual, with both, averaged as a table", features=WITH_BOTH, options=AVERAGED),
}
SYSTEMS = {"msd": "lexicalized", **{name: row.title for name, row in CLASSIFIERS.items()}}
SIZES = (5_000, 20_000, 100_000, 230_000)  # sentence pairs of laws
N_GENERATED = (10_000_000, 20_000_000, 47_000_000)  # samples
CORPORA = {"tatoeba": TATOEBA, "twlaw": TWLAW}


@dataclass(frozen=True)
class TrainingResult(Result):
    """What training took, the error rate on test text in percent; by pass, the percentage of active samples, and the memory
    of rows and dual variables."""

    samples: int
    seconds: float
    peak_mib: float
    passes: int
    error: float
    active: list[float]
    rows_mib: list[float]


@dataclass(frozen=True)
class Training(Computation[TrainingResult]):
    """Table 2 and Figure 1: a learner on a number of sentence pairs, or on generated text with a number of samples."""

    size: int
    generated: bool
    learner: Learner
    n_test: int

    result_type: ClassVar[type[Result]] = TrainingResult

    @property
    def text(self) -> str:
        """The name of the text."""
        return f"{'generated' if self.generated else 'classification'}-{self.size}"

    @property
    def text_title(self) -> str:
        """A description of the text."""
        return f"{self.size:,} {'samples requested, generated text' if self.generated else 'sentence pairs'}"

    @property
    def name(self) -> str:
        return f"{self.text}-{self.learner.name}"

    def corpus_files(self, data: Path) -> list[Path]:
        return [] if self.generated else list(TWLAW.files(data, "train").values())

    def work(self, setting: Setting) -> TrainingResult:
        def write(folder: Path) -> None:
            if self.generated:
                n_pairs = _n_sentences(self.size, setting.seed) + self.n_test
                text = generate(n_pairs, style=TWLAW.style, seed=setting.seed).bitext
            else:
                text = within(TWLAW.training_text(setting, 2 * (self.size + self.n_test)))
                text = text.select(random_part(text, self.size + self.n_test, setting.seed))
            for name, bitext in text.split({"test": self.n_test, "train": -1}, seed=setting.seed).items():
                bitext.save(folder / name)

        folder = made_once(setting.output / "texts" / self.text, write)
        return in_process(train_and_test, folder, self.learner, setting.threads)


def _n_sentences(n_samples: int, seed: int) -> int:
    """The size of a generated text with about this many samples."""
    text = generate(2000, style=TWLAW.style, seed=seed).bitext
    return round(n_samples * len(text) / len(extract(text, MAX_LENGTH)))


def train_and_test(folder: Path, learner: Learner, threads: int) -> TrainingResult:
    """Train and test; called in a fresh process, so that its peak memory is measured separately."""
    train, test = (Bitext.load(folder / name) for name in ("train", "test"))
    options = {"features": FEATURES, "orientations": "msd", "max-length": MAX_LENGTH, "max-distance": 0, **learner.options}
    model: Any = from_mapping(MODELS[options.pop("model")], options)
    model.threads = threads
    model.fit(train)
    peak = peak_mib()
    figures = evaluate(model, HeldOut(test, max_length=MAX_LENGTH, max_distance=0)).as_json()
    n = int(model.class_counts_.sum())
    active = 100 * np.asarray(model.history_.get("active", []), float) / n
    return TrainingResult(
        samples=n,
        seconds=model.train_seconds_,
        peak_mib=peak,
        passes=len(next(iter(model.history_.values()), [])),
        error=100 - figures["overall_precision"],
        active=np.round(active, 4).tolist(),
        rows_mib=np.round(np.asarray(model.history_.get("bytes", []), float) / 2**20, 1).tolist(),
    )


@dataclass(frozen=True)
class SystemComparison(Experiment):
    """Table 3: systems that differ in the reordering model, trained on part of the text or on the whole."""

    corpus: str
    n_tuning_runs: int
    systems: tuple[str, ...] = tuple(SYSTEMS)
    n_train: int = 50_000

    @property
    def text(self) -> str:
        """The corpus, and whether the whole of it is used."""
        return self.corpus if self.n_train else f"{self.corpus}-whole"

    @property
    def name(self) -> str:
        return f"translation-{self.text}"

    def corpus_files(self, data: Path) -> list[Path]:
        return CORPORA[self.corpus].experiment_files(data)

    def experiment(self, setting: Setting) -> JsonObject:
        common = {"orientations": "msd", "direction": "bidirectional", "max-distance": 0, "max-length": MAX_LENGTH}
        return {
            "corpus": CORPORA[self.corpus].experiment_corpus(setting, self.n_train, n_generated=600, n_test=1000),
            "lm": {"order": 3 if setting.quick else 5},
            "models": {
                "msd": {"model": "lexicalized", **common},
                **{name: {**row.model, **common} for name, row in CLASSIFIERS.items() if name in self.systems},
            },
            "evaluate": {"max-length": MAX_LENGTH, "max-distance": 0},
            "translation": {
                "systems": {name: [name] for name in self.systems},
                "limits": [6],
                "baselines": ["msd"],
                "tuning-runs": self.n_tuning_runs,
                "metrics": ["bleu", "ribes", "ter"],
                **search_options(setting, pop_limit=500, stack=200),
            },
        }


def _predictions(results: Mapping[str, ExperimentResult]) -> Table:
    """Error rates and mean log-probabilities of the models of Table 3, towards the previous and the next phrase."""
    groups = []
    for corpus, result in results.items():
        by_model = {row["model"]: row for row in result.orientation}
        rows: list[list[TableCell]] = [
            [title, *(number for side in ("", " (after)") for number in _prediction(by_model[f"{name}{side}"]))]
            for name, title in SYSTEMS.items()
            if name in by_model
        ]
        groups.append((corpus, rows))
    columns = ["", "error rate (%)", "log p", "next phrase: error rate (%)", "log p"]
    return table("table-3-predictions", "Orientations of the test text.", columns, groups)


def _prediction(row: JsonObject) -> tuple[Number, Number]:
    return Number(100 - row["overall_precision"], 2), Number(row["mean_logprob"], 3)


class Al14(Paper):
    """Dual multinomial logistic regression with shrinking (Alrajeh and Niranjan 2014)."""

    title = "Alrajeh and Niranjan 2014: large-scale reordering model by dual multinomial logistic regression"
    items = (
        PaperItem("Table 2", "training time and error rate, primal and dual"),
        PaperItem("Table 3", "translation"),
        PaperItem("Figure 1", "active set by pass"),
    )
    differences = (
        "Classification is on the laws of Taiwan, Chinese to English, not on 47 million samples of Arabic to English.",
        "Arabic to English is translated with everyday sentences of Tatoeba, 28,413 pairs; the laws are translated too.",
        "Both learners make 100 passes, as in the paper; the dual ends earlier when no sample is active.",
        "The rows literal-dual are Algorithm 1 as printed; the other dual rows take Newton's steps and check all samples.",
    )

    def trainings(self) -> list[Training]:
        """The cells of Table 2 and Figure 1."""
        if self.setting.quick:
            return [*(Training(600, False, learner, 100) for learner in LEARNERS), Training(20_000, True, DUAL, 100)]
        return [
            *(Training(size, False, learner, 1000) for size in SIZES for learner in LEARNERS),
            *(Training(size, True, learner, 1000) for size in N_GENERATED for learner in (DUAL, LITERAL[0], PRIMAL)),
        ]

    def comparisons(self) -> list[SystemComparison]:
        """The cells of Table 3."""
        if self.setting.quick:
            return [SystemComparison("tatoeba", 1)]
        whole = SystemComparison("twlaw", 1, ("msd", "dual", "dual-both"), n_train=0)
        return [*(SystemComparison(corpus, 3) for corpus in CORPORA), whole]

    def cells(self) -> Sequence[Cell[Result]]:
        return [*self.trainings(), *self.comparisons()]

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        if item.name == "Table 2":
            return self._time_and_error(results)
        return self._translation(results) if item.name == "Table 3" else self._active_sets(results)

    def _by_text(self, results: Results) -> dict[str, dict[Training, TrainingResult]]:
        """The finished trainings of each text."""
        texts: dict[str, dict[Training, TrainingResult]] = {}
        for cell in self.trainings():
            if (result := results.of(cell)) is not None:
                texts.setdefault(cell.text, {})[cell] = result
        return texts

    def _time_and_error(self, results: Results) -> list[Element]:
        groups: list[tuple[str, list[list[TableCell]]]] = []
        for trainings in self._by_text(results).values():
            rows: list[list[TableCell]] = [
                [
                    cell.learner.name,
                    Number(result.seconds, 1),
                    Number(result.peak_mib),
                    *(Number(result.rows_mib[at], 1) if result.rows_mib else None for at in (0, -1)),
                    Number(result.passes),
                    Number(result.error, 2),
                ]
                for cell, result in trainings.items()
            ]
            cell, result = list(trainings.items())[-1]
            groups.append((f"{cell.text_title}: {result.samples:,} samples", rows))
        if not groups:
            return []
        theirs: list[list[TableCell]] = [
            [name, Number(60 * minutes), None, None, None, None, Number(error, 2)]
            for name, (minutes, error) in TABLE_2.items()
        ]
        groups.append((f"{THEIRS}, 47 million samples", theirs))
        columns = ["", "training, s", "peak, MiB", "rows, first pass", "rows, last pass", "passes", "error rate (%)"]
        return [table("table-2", "Primal and dual.", columns, groups)]

    def _translation(self, results: Results) -> list[Element]:
        done = {cell.text: result for cell in self.comparisons() if (result := results.of(cell)) is not None}
        if not done:
            return []
        ours = translation_table("table-3", "Translation.", done, SYSTEMS, "msd", ("BLEU", "RIBES", "TER"))
        theirs = paper_table("table-3", ("BLEU, MT06", "BLEU, MT08"), SYSTEMS, TABLE_3)
        return [ours, theirs, _predictions(done)]

    def _active_sets(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for text, trainings in self._by_text(results).items():
            lines = {
                cell.learner.name: dict(enumerate(result.active, start=1))
                for cell, result in trainings.items()
                if result.active
            }
            if lines:
                caption = f"Active samples by pass, {next(iter(trainings)).text_title}."
                picture = draw_lines(lines, {}, "pass", "active samples (%)")
                elements.append(CaptionedFigure(f"figure-1-{text}", caption, picture))
        return elements


PAPER = Al14
