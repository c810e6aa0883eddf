"""Goto, Utiyama, Sumita, Tamura and Kurohashi 2013: prediction of the next source word, by pairs and by sequences.

Cells `PAIR-limit-L`: the systems of Table 3, tuned and tested at one distortion limit. 9-CLASS, PAIR and SEQUENCE
*replace* the linear distance: its weight is fixed at 0. Cells `PAIR-VARIANT-limit-L`: others, on the same text or more.
Cells `PAIR-rules-limit-L`: the hierarchical system of Table 4, whose limit is the longest span of a rule, and others.
Cells `PAIR-prediction`: the models on held-out text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.report.elements import CaptionedFigure, Element, Number, Paragraph
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import numbered
from hyperbaton.report.jumps import draw_average_probability
from hyperbaton.reproduce._corpora import KYOTO, TWLAW, made_once
from hyperbaton.reproduce._experiments import p_value, score, search, search_options, translation_table
from hyperbaton.reproduce._page import PAPER, table
from hyperbaton.reproduce._paper import Cell, Paper, PaperItem, Result, Results

LIMITS: tuple[int | str, ...] = (10, 20, 30, "none")
PAIRS = {"kyoto": KYOTO, "twlaw": TWLAW}
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


@dataclass(frozen=True)
class SystemVariant:
    """Systems in addition to those of Table 3, or the same systems with other links, another text or less training
    data."""

    title: str
    systems: tuple[str, ...]
    pairs: tuple[str, ...] = ("kyoto",)
    limits: tuple[int | str, ...] = LIMITS
    size: int = 100_000
    learn: int = 0  # number of training sentences of jump models; 0: all
    links: str = "given"


BASELINE = "LINEAR+LEX"
RULES = "rules"
VARIANTS = {
    "beside": SystemVariant(
        "SEQUENCE with other models",
        ("LINEAR+LEX", "SEQUENCE", "SEQUENCE+LINEAR", "SEQUENCE+LEX", "SEQUENCE+HIER"),
        tuple(PAIRS),
    ),
    RULES: SystemVariant(
        "hierarchical translation", (BASELINE, "SEQUENCE+LINEAR", "HIER", "HIER+SEQUENCE"), tuple(PAIRS), (20, "none")
    ),
    "few": SystemVariant("jump models of 20,000 sentences", ("LINEAR+LEX", "SEQUENCE"), learn=20_000),
    "own-links": SystemVariant("links of our aligner", ("LINEAR+LEX", "SEQUENCE"), limits=(10, "none"), links="own"),
    "content-links": SystemVariant(
        "links of our aligner, particles and articles dropped as in the paper",
        ("LINEAR+LEX", "SEQUENCE"),
        limits=(10, "none"),
        links="content",
    ),
    "whole": SystemVariant(
        "420,858 pairs, jump models of 200,000", ("LINEAR+LEX", "9-CLASS", "PAIR", "SEQUENCE"), size=420_858, learn=200_000
    ),
}
# GO13 §4.1: function words that have no counterpart in the other language.
DROPPED = {"source": ("が", "を", "は"), "target": ("a", "an", "the")}
INSTEAD = ("9-CLASS", "PAIR", "SEQUENCE")  # of the linear distance
JUMPS = {"nine_class", "outbound", "pair", "sequence"}
# Table 3, by limit: Japanese–English, then Chinese–English.
TABLE_3 = {
    "LINEAR": ((27.98, 27.74, 27.75, 27.30), (29.18, 28.74, 28.31, 28.33)),
    "LINEAR+LEX": ((30.25, 30.37, 30.17, 29.98), (30.81, 30.24, 30.16, 30.13)),
    "9-CLASS": ((30.74, 30.98, 30.92, 30.75), (31.80, 31.56, 31.31, 30.84)),
    "PAIR": ((31.62, 32.36, 31.96, 32.03), (32.51, 32.30, 32.25, 32.32)),
    "SEQUENCE": ((32.02, 32.96, 33.29, 32.81), (33.41, 33.44, 33.35, 33.41)),
}
TABLE_4 = {"LINEAR+LEX": (30.37, 30.81), "SEQUENCE": (33.29, 33.44), "HIER": (30.47, 32.66)}


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

    def cells(self) -> Sequence[Cell]:
        quick = self.setting.quick
        limits = LIMITS[:1] if quick else LIMITS
        runs = 1 if quick else 3
        pairs = ("kyoto",) if quick else tuple(PAIRS)
        size = 600 if quick else 100_000
        cells = [Cell(f"{pair}-prediction", {"pair": pair, "size": size}, experiment=True) for pair in pairs]

        def add(name: str, pair: str, limit: int | str, systems: Sequence[str], **more: Any) -> None:
            options = {"pair": pair, "limit": limit, "size": size, "runs": runs, "systems": list(systems), **more}
            cells.append(Cell(f"{name}-limit-{limit}", options | search_options(self.setting), experiment=True))

        for pair in pairs:
            for limit in limits:
                add(pair, pair, limit, tuple(TABLE_3))
        for name, variant in VARIANTS.items():
            # Generated text has no links to compare ours with, and more of it is pointless here.
            if quick and (variant.links != "given" or variant.size != 100_000):
                continue
            more: JsonObject = {key: value for key in ("learn", "links") if (value := getattr(variant, key))}
            more |= {"learn": 300} if quick and variant.learn else {}
            more |= {"size": variant.size} if not quick else {}
            for pair in variant.pairs[:1] if quick else variant.pairs:
                for limit in variant.limits[:1] if quick else variant.limits:
                    add(f"{pair}-{name}", pair, limit, variant.systems, **more)
        return cells

    def experiment(self, cell: Cell) -> JsonObject:
        quick, options = self.setting.quick, cell.options
        predicts = "limit" not in options
        systems = {name: SYSTEMS[name] for name in options.get("systems", ())}
        used = {model for models in systems.values() for model in models} | (JUMPS if predicts else set())
        translation: JsonObject = {"systems": {}}
        if not predicts:
            translation = {
                "systems": systems,
                "fix": {system: {"Distortion0": 0} for system in INSTEAD if system in systems},
                "limits": [options["limit"]],
                "tuning-runs": options["runs"],
                "baselines": [name for name in (BASELINE, "SEQUENCE", "HIER") if name in systems],
                "metrics": ["bleu", "ribes", "ter"],
                **search(self.setting, pop_limit=1000, stack=200),
            }
        return {
            "corpus": self._corpus(options),
            **self._aligner(options),
            "lm": {"order": 3 if quick else 5},
            "models": {name: model for name, model in self._models(options).items() if name in used},
            "translation": translation,
        }

    def _models(self, options: JsonObject) -> JsonObject:
        quick, device = self.setting.quick, self.setting.device
        learn = {"max-sentences": options["learn"]} if options.get("learn") else {}
        learner = {"learner": "lbfgs:max-passes=10"} if quick else {}

        def jumps(variance: float) -> JsonObject:
            if device is None:
                return {**learn, **learner}
            return {**learn, "learner": f"torch:variance={variance}:device={device}" + (":max-passes=10" if quick else "")}

        lexical = {"model": "lexicalized", "direction": "bidirectional", "max-distance": 0, "max-length": 7}
        return {
            "nine_class": {"scores": "classes", **learn, **learner},
            "outbound": {"model": "nine_class", "parts": "outbound", **learn, **learner},
            "pair": jumps(0.1),
            "sequence": jumps(0.003),
            "msd": {**lexical, "orientations": "msd"},
            "hier": {**lexical, "orientations": "hier-mslr"},
            "rules": {"model": "rules", "for-texts": True},
        }

    def _corpus(self, options: JsonObject) -> JsonObject:
        corpus, setting = PAIRS[options["pair"]], self.setting
        generated = {"sentences": options["size"] + 60, "dev": 30, "test": 30}
        splits = corpus.experiment_corpus(setting, options["size"], generated)
        if setting.data is None:
            return splits
        if options["size"] > 200_000:
            splits["train"] |= corpus.joined(setting, ("train", "more"))
        if options.get("links", "given") != "given":
            del splits["train"]["links"]  # and the experiment makes its own
        return splits

    def _aligner(self, options: JsonObject) -> JsonObject:
        if options.get("links") != "content":
            return {}

        def make(folder: Path) -> None:
            for side, words in DROPPED.items():
                (folder / side).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")

        folder = made_once(self.setting.output / "texts" / "dropped", make)
        return {"align": {f"drop-{side}": str((folder / side).resolve()) for side in DROPPED}}

    def _table_3(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for place, pair in enumerate(PAIRS):
            found = _by_limit(results, pair)
            if not found:
                continue
            rows = _bleu_rows(found)
            theirs: list[list[TableCell]] = [[s, *(Number(v, 2) for v in values[place])] for s, values in TABLE_3.items()]
            best = {s: max((v.value for limit in found if (v := score(found[limit], s))), default=0.0) for s in SYSTEMS}
            gain = 100 * (best["SEQUENCE"] / best[BASELINE] - 1) if best[BASELINE] else 0.0
            paper = 100 * (max(TABLE_3["SEQUENCE"][place]) / max(TABLE_3[BASELINE][place]) - 1)
            note = (
                f"*: p < 0.05 against {BASELINE}. At the best limit of each, SEQUENCE gains {gain:.1f} % of its BLEU; "
                f"in the paper {paper:.1f} %."
            )
            groups = [("ours", rows), (PAPER, theirs)]
            elements.append(
                table(f"table-3-{pair}", f"BLEU by distortion limit, {pair}.", ["", *map(str, LIMITS)], groups, note)
            )
        return [*elements, *self._variants(results)]

    def _table_4(self, results: Results) -> list[Element]:
        """Scores of the hierarchical system by its span limit, which is a distortion limit for phrase systems."""
        elements: list[Element] = []
        for place, pair in enumerate(PAIRS):
            found = {str(limit): result for limit, result in _by_limit(results, f"{pair}-{RULES}").items()}
            if found:
                systems = {system: system for system in VARIANTS[RULES].systems}
                caption = f"Hierarchical translation by limit, {pair}."
                elements.append(
                    translation_table(f"table-4-{pair}", caption, found, systems, BASELINE, ("BLEU", "RIBES", "TER"))
                )
                theirs = "; ".join(f"{system} {values[place]}" for system, values in TABLE_4.items())
                elements.append(Paragraph(f"BLEU in the paper, HIER without a limit, the others at their best: {theirs}."))
        return elements

    def _variants(self, results: Results) -> list[Element]:
        """Table 3 for other systems, links and sizes, next to the same systems of the first table."""
        groups = [
            (f"{pair}: {variant.title}", rows)
            for name, variant in VARIANTS.items()
            for pair in variant.pairs
            if name != RULES and (rows := _bleu_rows(_by_limit(results, f"{pair}-{name}")))
        ]
        if not groups:
            return []
        note = (
            f"*: p < 0.05 against {BASELINE} of the same group. In the paper SEQUENCE of 20,000 sentences has 32.22 (30)."
        )
        return [table("table-3-variants", "BLEU by distortion limit.", ["", *map(str, LIMITS)], groups, note)]

    def _predictions(self, results: Results) -> dict[str, dict[str, Result]]:
        """Held-out predictions by pair and model: systems of Table 3 use the models of the prediction cell."""
        found: dict[str, dict[str, Result]] = {}
        for pair in PAIRS:
            for name in (*(f"{pair}-limit-{limit}" for limit in LIMITS), f"{pair}-prediction"):
                for row in results.get(name, {}).get("next_position", []):
                    found.setdefault(pair, {})[row["model"]] = row
        return found

    def _figure_5(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for pair, rows in self._predictions(results).items():
            lines: dict[str, dict[int, float]] = {
                name: numbered(rows[name]["average_probability"]) for name in ("pair", "sequence") if name in rows
            }
            corpus = numbered(rows["pair"]["corpus_probability"])
            caption = f"Average probability of candidates by distortion, {pair}."
            reading = "In the paper PAIR is flat from 5 words on, SEQUENCE falls as the text does."
            elements.append(CaptionedFigure(f"figure-5-{pair}", caption, draw_average_probability(lines, corpus), reading))
            spans = {"[4, 6]": range(4, 7), "[7, 20]": range(7, 21)}
            cells: list[list[TableCell]] = [
                [name, *(Number(_mean(values, span), 4) for span in spans.values())]
                for name, values in {**lines, "text": corpus}.items()
            ]
            elements.append(table(f"figure-5-{pair}-means", "Means of Figure 5 over spans.", ["", *spans], [("", cells)]))
        return elements

    def _footnote_16(self, results: Results) -> list[Element]:
        rows: list[list[TableCell]] = []
        for pair, found in self._predictions(results).items():
            if "outbound" in found:
                values, corpus = (numbered(found["outbound"][k]) for k in ("average_probability", "corpus_probability"))
                for name, line in ((f"outbound, {pair}", values), (f"text, {pair}", corpus)):
                    rows.append([name, Number(_mean(line, range(4, 7)), 4), Number(_mean(line, range(7, 21)), 4)])
        if not rows:
            return []
        note = (
            "The paper averages class probabilities, 0.058 and 0.165: the far class is the more probable. Here the class's "
            "probability is shared among its candidates, so that models can be compared."
        )
        return [table("footnote-16", "Average probability of far jumps.", ["", "[4, 6]", "[7, 20]"], [("", rows)], note)]


def _by_limit(results: Results, name: str) -> dict[int | str, Result]:
    return {limit: results[cell] for limit in LIMITS if (cell := f"{name}-limit-{limit}") in results}


def _bleu_rows(results: dict[int | str, Result]) -> list[list[TableCell]]:
    """A row for each system that was run, a column for each limit."""
    rows: list[list[TableCell]] = []
    for system in SYSTEMS:
        cells: list[TableCell] = []
        for limit in LIMITS:
            value = score(results[limit], system) if limit in results else None
            p = p_value(results[limit], system, BASELINE) if value else None
            marks = "*" if p is not None and p < 0.05 else ""
            cells.append(value and Number(value.value, 2, spread=value.spread, marks=marks))
        if any(cell is not None for cell in cells):
            rows.append([system, *cells])
    return rows


def _mean(values: dict[int, float], span: range) -> float:
    return float(np.mean([values[d] for d in span if d in values] or [0.0]))
