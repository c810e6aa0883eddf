"""Goto, Utiyama, Sumita, Tamura and Kurohashi 2013: prediction of the next source word, by pairs and by sequences.

Cells `CORPUS-limit-L`: the systems of Table 3, tuned and tested at one distortion limit. 9-CLASS, PAIR and SEQUENCE
*replace* the linear distance: its weight is fixed at 0. Cells `CORPUS-VARIANT-limit-L`: others, on the same text or more.
Cells `CORPUS-rules-limit-L`: the hierarchical system of Table 4, whose limit is the longest span of a rule, and others.
Cells `CORPUS-prediction`: the models on held-out text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.report.elements import CaptionedFigure, Element, Number, Paragraph
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import numbered
from hyperbaton.report.jumps import draw_average_probability, end_means, jump_lines, text_line
from papers.corpora import KYOTO, TWLAW, made_once
from papers.experiments import (
    Experiment,
    ExperimentResult,
    OtherWeights,
    run_experiment,
    search_options,
    translation_table,
    tuned_weights,
)
from papers.protocol import Cell, Paper, PaperItem, Result, Results, Setting
from papers.tables import THEIRS, table

Limit = int | str  # words of a jump, or "none"
LIMITS: tuple[Limit, ...] = (10, 20, 30, "none")
CORPORA = {"kyoto": KYOTO, "twlaw": TWLAW}
# The reordering models of each system.
SYSTEMS: dict[str, list[str]] = {
    "LINEAR": [],
    "LINEAR+LEX": ["msd"],
    "9-CLASS": ["nine_class"],
    "PAIR": ["pair"],
    "SEQUENCE": ["sequence"],
    "SEQUENCE+LINEAR": ["sequence"],
    "SEQUENCE+LEX": ["sequence", "msd"],
    "SEQUENCE+HIER": ["sequence", "hier"],
    "HIER": ["rules"],
    "HIER+SEQUENCE": ["rules", "sequence"],
}
BASELINE = "LINEAR+LEX"
BLEU = "BLEU:lowercase=yes"  # the paper's is case-insensitive
WITHOUT_DISTANCE = ("9-CLASS", "PAIR", "SEQUENCE")
PREDICTORS = ("nine_class", "outbound", "pair", "sequence")
# BLEU by limit: Japanese–English, then Chinese–English.
TABLE_3 = {
    "LINEAR": ((27.98, 27.74, 27.75, 27.30), (29.18, 28.74, 28.31, 28.33)),
    "LINEAR+LEX": ((30.25, 30.37, 30.17, 29.98), (30.81, 30.24, 30.16, 30.13)),
    "9-CLASS": ((30.74, 30.98, 30.92, 30.75), (31.80, 31.56, 31.31, 30.84)),
    "PAIR": ((31.62, 32.36, 31.96, 32.03), (32.51, 32.30, 32.25, 32.32)),
    "SEQUENCE": ((32.02, 32.96, 33.29, 32.81), (33.41, 33.44, 33.35, 33.41)),
}
TABLE_4 = {"LINEAR+LEX": (30.37, 30.81), "SEQUENCE": (33.29, 33.44), "HIER": (30.47, 32.66)}
# GO13 §4.1: function words that have no counterpart in the other language.
FUNCTION_WORDS = {"source": ("が", "を", "は"), "target": ("a", "an", "the")}


@dataclass(frozen=True)
class Variant:
    """The systems of Table 3, or others, or the same with other links, another text or less training data."""

    title: str
    systems: tuple[str, ...]
    corpora: tuple[str, ...] = ("kyoto",)
    limits: tuple[Limit, ...] = LIMITS
    n_train: int = 100_000
    n_jumps: int = 0  # training sentences of jump models; 0: all
    links: str = "given"  # with the corpus; "own": by our aligner; "content": likewise, but not of function words
    itg: bool = False

    @property
    def in_quick(self) -> bool:
        """Whether it makes sense on a little generated text, which needs no other links."""
        return self.links == "given" and self.n_train == 100_000


RULES, FEW = "rules", "few"
VARIANTS = {
    "": Variant("the systems of Table 3", tuple(TABLE_3), tuple(CORPORA)),
    "beside": Variant(
        "SEQUENCE with other models",
        ("LINEAR+LEX", "SEQUENCE", "SEQUENCE+LINEAR", "SEQUENCE+LEX", "SEQUENCE+HIER"),
        tuple(CORPORA),
    ),
    RULES: Variant(
        "hierarchical translation", (BASELINE, "SEQUENCE+LINEAR", "HIER", "HIER+SEQUENCE"), tuple(CORPORA), (20, "none")
    ),
    "itg": Variant(
        "ITG constraints", ("LINEAR+LEX", "SEQUENCE", "SEQUENCE+LINEAR", "SEQUENCE+HIER"), limits=(20, "none"), itg=True
    ),
    FEW: Variant("jump models of 20,000 sentences", ("LINEAR+LEX", "SEQUENCE"), limits=(30,), n_jumps=20_000),
    "own-links": Variant("links of our aligner", ("LINEAR+LEX", "SEQUENCE"), limits=(10, "none"), links="own"),
    "content-links": Variant(
        "links of our aligner, particles and articles dropped as in the paper",
        ("LINEAR+LEX", "SEQUENCE"),
        links="content",
    ),
    "content-rules": Variant(
        "hierarchical translation with these links",
        (BASELINE, "SEQUENCE", "HIER", "HIER+SEQUENCE"),
        limits=(20,),
        links="content",
    ),
    "whole": Variant(
        "420,858 pairs, jump models of 200,000",
        ("LINEAR+LEX", "9-CLASS", "PAIR", "SEQUENCE"),
        n_train=420_858,
        n_jumps=200_000,
    ),
}


@dataclass(frozen=True)
class JumpExperiment(Experiment):
    """An experiment with jump models on one of the two corpora."""

    corpus: str
    n_train: int
    longest: int = field(default=40, kw_only=True)  # words of a training sentence (GO13 §4.1)

    def corpus_files(self, data: Path) -> list[Path]:
        return CORPORA[self.corpus].experiment_files(data)

    def models(self, setting: Setting, names: Sequence[str], n_jumps: int = 0) -> JsonObject:
        """`[models]` of the experiment: those of these names."""
        jumps: JsonObject = {"max-sentences": n_jumps} if n_jumps else {}
        if setting.quick:
            jumps["learner"] = "lbfgs:max-passes=10"
        lexical = {"model": "lexicalized", "direction": "bidirectional", "max-distance": 0, "max-length": 7}
        models: JsonObject = {
            "nine_class": {"scores": "classes", **jumps},
            "outbound": {"model": "nine_class", "parts": "outbound", **jumps},
            "pair": {**jumps},
            "sequence": {**jumps},
            "msd": {**lexical, "orientations": "msd"},
            "hier": {**lexical, "orientations": "hier-mslr"},
            "rules": {"model": "rules", "for-texts": True},
        }
        return {name: options for name, options in models.items() if name in names}


@dataclass(frozen=True)
class Prediction(JumpExperiment):
    """Figure 5 and footnote 16: jump models on held-out text, without translation."""

    @property
    def name(self) -> str:
        return f"{self.corpus}-prediction"

    def experiment(self, setting: Setting) -> JsonObject:
        return {
            "corpus": CORPORA[self.corpus].experiment_corpus(
                setting, self.n_train, n_generated=self.n_train, longest=self.longest
            ),
            "lm": {"order": 3 if setting.quick else 5},
            "models": self.models(setting, PREDICTORS),
            "translation": {"systems": {}},
        }


@dataclass(frozen=True)
class SystemComparison(JumpExperiment):
    """Tables 3 and 4: systems tuned and tested at one limit."""

    variant: str
    limit: Limit
    systems: tuple[str, ...]
    n_jumps: int
    links: str
    itg: bool
    n_tuning_runs: int
    metric: str = BLEU

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.corpus, self.variant, "limit", str(self.limit))))

    @property
    def uses_more(self) -> bool:
        """Whether it needs more text than the training split."""
        return self.n_train > 200_000

    def corpus_files(self, data: Path) -> list[Path]:
        more = CORPORA[self.corpus].files(data, "more").values() if self.uses_more else ()
        return [*super().corpus_files(data), *more]

    def experiment(self, setting: Setting) -> JsonObject:
        systems = {name: SYSTEMS[name] for name in self.systems}
        search = search_options(setting, pop_limit=1000, stack=200)
        search["decoding"] |= {"itg": True} if self.itg else {}
        search["tuning"] = search.get("tuning", {}) | {"metric": self.metric.lower()}
        used = [model for models in systems.values() for model in models]
        return {
            "corpus": self._corpus(setting),
            **self._aligner(setting),
            "lm": {"order": 3 if setting.quick else 5},
            "models": self.models(setting, used, self.n_jumps),
            "translation": {
                "systems": systems,
                "fix": {system: {"Distortion0": 0} for system in WITHOUT_DISTANCE if system in systems},
                "limits": [self.limit],
                "tuning-runs": self.n_tuning_runs,
                "baselines": [name for name in (BASELINE, "SEQUENCE", "HIER") if name in systems],
                "metrics": [self.metric.lower(), "ribes", "ter"],
                **search,
            },
        }

    def _corpus(self, setting: Setting) -> JsonObject:
        corpus = CORPORA[self.corpus]
        splits = corpus.experiment_corpus(setting, self.n_train, n_generated=self.n_train, longest=self.longest)
        if setting.data is None:
            return splits
        if self.uses_more:
            splits["train"] |= corpus.joined(setting.data, setting.output / "texts", ("train", "more"))
        if self.links != "given":
            del splits["train"]["links"]  # and the experiment makes its own
        return splits

    def _aligner(self, setting: Setting) -> JsonObject:
        """`[align]`, with the words that are linked to nothing."""
        if self.links != "content":
            return {}

        def write(folder: Path) -> None:
            for side, words in FUNCTION_WORDS.items():
                (folder / side).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")

        folder = made_once(setting.output / "texts" / "dropped", write)
        return {"align": {f"drop-{side}": str((folder / side).resolve()) for side in FUNCTION_WORDS}}


@dataclass(frozen=True)
class WithWeightsOfAll(OtherWeights):
    """A comparison of jump models of few sentences, with the weights tuned with those of all (footnote 15)."""

    comparison: SystemComparison

    def work(self, setting: Setting) -> ExperimentResult:
        root = setting.output / f"runs-{self.name}"
        tuning = replace(self.comparison, n_jumps=0).experiment(setting)
        plan = run_experiment(setting, self.name, tuning, root)
        fixed = {system: tuned_weights(plan, root, system) for system in self.comparison.systems}
        for weights in fixed.values():  # something must be free, and this changes no translation
            del weights["UnknownWordPenalty0"]
        experiment = self.comparison.experiment(setting)
        untuned = {**experiment["translation"], "fix": fixed, "tuning-runs": 1, "tuning": {"iterations": 1}}
        return ExperimentResult.of(run_experiment(setting, self.name, experiment | {"translation": untuned}, root), root)


class Go13(Paper):
    """Distortion models of pairs of words and of sequences (Goto et al. 2013)."""

    title = "Goto et al. 2013: distortion model considering rich context for statistical machine translation"
    items = (
        PaperItem("Table 3", "BLEU by distortion limit"),
        PaperItem("Table 4", "hierarchical translation"),
        PaperItem("Figure 5", "average probability of far jumps"),
        PaperItem("Footnote 16", "far jumps in 9-CLASS"),
    )
    differences = (
        "Japanese to English is Wikipedia articles on Kyoto (100,000 pairs), Chinese to English laws of Taiwan (100,000); "
        "the paper has patents, 2.05 and 0.49 million pairs.",
        "The distortion models learn from the whole training text, the paper's from 200,000 sentence pairs.",
        "Weights are tuned at each limit, three times on the whole development text; scores are means over the three. The "
        "paper tunes three times on one half and chooses on the other.",
        "Links are those of the corpora (automatic), unless a table says that our aligner made them.",
    )

    def predictions(self) -> list[Prediction]:
        """The cells of Figure 5."""
        return [Prediction("kyoto", 600)] if self.setting.quick else [Prediction(corpus, 100_000) for corpus in CORPORA]

    def comparisons(self) -> list[SystemComparison]:
        """The cells of Tables 3 and 4."""
        if self.setting.quick:
            return [
                SystemComparison("kyoto", 600, name, v.limits[0], v.systems, 300 if v.n_jumps else 0, v.links, v.itg, 1)
                for name, v in VARIANTS.items()
                if v.in_quick
            ]
        return [
            SystemComparison(corpus, v.n_train, name, limit, v.systems, v.n_jumps, v.links, v.itg, 3)
            for name, v in VARIANTS.items()
            for corpus in v.corpora
            for limit in v.limits
        ]

    def cells(self) -> Sequence[Cell[Result]]:
        comparisons = (WithWeightsOfAll(cell) if cell.variant == FEW else cell for cell in self.comparisons())
        return [*self.predictions(), *comparisons]

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        sections = {"Table 3": self._bleu_by_limit, "Table 4": self._hierarchical, "Figure 5": self._far_jumps}
        return sections.get(item.name, self._outbound)(results)

    def _by_limit(self, results: Results, corpus: str, variant: str) -> dict[Limit, ExperimentResult]:
        """The finished comparisons of a variant on a corpus."""
        return {
            cell.limit: result
            for cell in self.comparisons()
            if (cell.corpus, cell.variant) == (corpus, variant) and (result := results.of(cell)) is not None
        }

    def _bleu_by_limit(self, results: Results) -> list[Element]:
        """Table 3, then the same for other systems, links and sizes."""
        elements: list[Element] = []
        columns = ["", *map(str, LIMITS)]
        for place, corpus in enumerate(CORPORA):
            by_limit = self._by_limit(results, corpus, "")
            if not by_limit:
                continue
            theirs: list[list[TableCell]] = [[s, *(Number(v, 2) for v in values[place])] for s, values in TABLE_3.items()]
            best = {s: max((v.value for r in by_limit.values() if (v := r.score(s, BLEU))), default=0.0) for s in TABLE_3}
            gain = 100 * (best["SEQUENCE"] / best[BASELINE] - 1) if best[BASELINE] else 0.0
            their_gain = 100 * (max(TABLE_3["SEQUENCE"][place]) / max(TABLE_3[BASELINE][place]) - 1)
            note = (
                f"*: p < 0.05 against {BASELINE}. At the best limit of each, SEQUENCE gains {gain:.1f} % of its BLEU; "
                f"in the paper {their_gain:.1f} %."
            )
            groups = [("ours", _bleu_rows(by_limit)), (THEIRS, theirs)]
            elements.append(table(f"table-3-{corpus}", f"BLEU by distortion limit, {corpus}.", columns, groups, note))
        variants = [
            (f"{corpus}: {variant.title}", rows)
            for name, variant in VARIANTS.items()
            for corpus in variant.corpora
            if name not in ("", RULES) and (rows := _bleu_rows(self._by_limit(results, corpus, name)))
        ]
        if variants:
            note = f"*: p < 0.05 against {BASELINE} of the same group. In the paper 20,000 sentences give 32.22 (30)."
            elements.append(table("table-3-variants", "BLEU by distortion limit.", columns, variants, note))
        return elements

    def _hierarchical(self, results: Results) -> list[Element]:
        """Table 4: scores by the limit on spans, which is a distortion limit for phrase systems."""
        elements: list[Element] = []
        for place, corpus in enumerate(CORPORA):
            by_limit = {str(limit): result for limit, result in self._by_limit(results, corpus, RULES).items()}
            if by_limit:
                systems = {system: system for system in VARIANTS[RULES].systems}
                caption = f"Hierarchical translation by limit, {corpus}."
                metrics = (BLEU, "RIBES", "TER")
                elements.append(translation_table(f"table-4-{corpus}", caption, by_limit, systems, BASELINE, metrics))
                theirs = "; ".join(f"{system} {values[place]}" for system, values in TABLE_4.items())
                elements.append(Paragraph(f"BLEU in the paper, HIER without a limit, the others at their best: {theirs}."))
        return elements

    def _held_out(self, results: Results) -> dict[str, dict[str, JsonObject]]:
        """Held-out predictions by corpus and model: systems of Table 3 use the models of the prediction cell."""
        rows: dict[str, dict[str, JsonObject]] = {}
        for corpus in CORPORA:
            predictions = (results.of(cell) for cell in self.predictions() if cell.corpus == corpus)
            for result in (*self._by_limit(results, corpus, "").values(), *predictions):
                for row in result.next_position if result else []:
                    rows.setdefault(corpus, {})[row["model"]] = row
        return rows

    def _far_jumps(self, results: Results) -> list[Element]:
        """Figure 5: candidates in one distance class, over the CPs that have all of them."""
        elements: list[Element] = []
        for corpus, rows in self._held_out(results).items():
            chosen: dict[str, JsonObject] = {name: rows[name] for name in ("pair", "sequence") if name in rows}
            lines = jump_lines(chosen, "far_average_probability")
            text = text_line(chosen, "far_corpus_probability")
            if not text:  # short sentences
                continue
            caption = (
                f"Average probability of candidates by distortion, from current positions that have them all, {corpus}."
            )
            reading = "In the paper PAIR is flat, SEQUENCE falls as the text does."
            elements.append(CaptionedFigure(f"figure-5-{corpus}", caption, draw_average_probability(lines, text), reading))
            means: list[list[TableCell]] = [
                [name, Number(near, 4), Number(far, 4), Number(100 * far / near, 0) if near else None]
                for name, (near, far) in ((name, end_means(values)) for name, values in {**lines, "text": text}.items())
            ]
            columns = ["", "[5, 8]", "[17, 20]", "kept, %"]
            elements.append(table(f"figure-5-{corpus}-means", "Means of Figure 5 over spans.", columns, [("", means)]))
        return elements

    def _outbound(self, results: Results) -> list[Element]:
        """Footnote 16: the outbound classes of 9-CLASS."""
        rows: list[list[TableCell]] = []
        for corpus, models in self._held_out(results).items():
            if "outbound" in models:
                classes = models["outbound"]["average_class_probability"]["outbound"]
                rows.append(_span_means(f"outbound, {corpus}", numbered(classes)))
                rows.append(_span_means(f"text, {corpus}", numbered(models["outbound"]["corpus_probability"])))
        if not rows:
            return []
        note = "In the paper 0.058 and 0.165: the far class is the more probable, although each of its jumps is rarer."
        columns = ["", "[4, 6]", "[7, 20]"]
        return [table("footnote-16", "Average probability of the class of far jumps.", columns, [("", rows)], note)]


def _bleu_rows(by_limit: dict[Limit, ExperimentResult]) -> list[list[TableCell]]:
    """A row for each system that was run, a column for each limit."""
    scores = {
        system: [by_limit[limit].marked_score(system, BASELINE, BLEU) if limit in by_limit else None for limit in LIMITS]
        for system in SYSTEMS
    }
    return [[system, *row] for system, row in scores.items() if any(score is not None for score in row)]


def _span_means(title: str, probabilities: dict[int, float]) -> list[TableCell]:
    """A row with the mean probabilities of jumps in two classes of 9-CLASS."""
    spans = (range(4, 7), range(7, 21))
    means = [np.mean([probabilities[d] for d in span if d in probabilities] or [0.0]) for span in spans]
    return [title, *(Number(float(mean), 4) for mean in means)]


PAPER = Go13
