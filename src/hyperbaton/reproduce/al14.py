"""Alrajeh and Niranjan 2014: one multinomial logistic model for all phrase pairs, trained on the primal and on the dual.

Cells `classification-SIZE-LEARNER`: each in its own process, so that its peak memory is measured separately; 100 passes
each, as in the paper. Cells `generated-SAMPLES-LEARNER`: likewise on generated text with about SAMPLES samples, up to the
paper's 47 million, for time and memory. Cells `translation-CORPUS`: systems that differ only in the reordering model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.memory import peak_mib
from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS
from hyperbaton.phrases import extract
from hyperbaton.report.elements import CaptionedFigure, Element, Number
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import draw_lines
from hyperbaton.reproduce._corpora import TATOEBA, TWLAW, made_once, random_part, within
from hyperbaton.reproduce._experiments import search, search_options, translation_table
from hyperbaton.reproduce._page import PAPER, paper_table, table
from hyperbaton.reproduce._paper import Cell, Paper, PaperItem, Result, Results
from hyperbaton.reproduce._processes import in_process

PASSES = 100
FEATURES = "aligned_words:min-count=10"
LEARNERS = {
    "primal": {"model": "maxent", "scope": "global", "learner": f"sgd:variance=0.1:max-passes={PASSES}:tolerance=0"},
    "dual-0.1": {"model": "dual_mlr", "learner": f"dual_eg:epsilon=0.1:variance=0.1:max-passes={PASSES}"},
    "dual-1": {"model": "dual_mlr", "learner": f"dual_eg:epsilon=1:variance=0.1:max-passes={PASSES}"},
    "dual-0.01": {"model": "dual_mlr", "learner": f"dual_eg:epsilon=0.01:variance=0.1:max-passes={PASSES}"},
}
# Minutes and error rate, Table 2; BLEU on MT06 and MT08, Table 3.
TABLE_2 = {"primal": (69, 17.81), "dual-0.1": (18, 17.95), "dual-1": (13, 21.13), "dual-0.01": (22, 17.89)}
TABLE_3 = {"msd": (30.86, 34.22), "primal": (31.37, 34.85), "dual": (31.36, 34.87)}
SYSTEMS = {"msd": "lexicalized", "primal": "primal", "dual": "dual, ε = 0.1"}
LONGEST = 7  # words of a phrase
GENERATED = (10_000_000, 20_000_000, 47_000_000)
CORPORA = {"tatoeba": TATOEBA, "twlaw": TWLAW}


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
    )

    def cells(self) -> Sequence[Cell]:
        quick = self.setting.quick
        cells = []
        for size in (600,) if quick else (5_000, 20_000, 100_000, 230_000):
            for name, options in LEARNERS.items():
                shown = {"size": size, "learner": name, "test": 100 if quick else 1000, "options": options}
                cells.append(Cell(f"classification-{size}-{name}", shown))
        for samples in (20_000,) if quick else GENERATED:
            for name in ("dual-0.1",) if quick else ("dual-0.1", "primal"):
                shown = {"samples": samples, "learner": name, "test": 100 if quick else 1000, "options": LEARNERS[name]}
                cells.append(Cell(f"generated-{samples}-{name}", shown))
        runs = 1 if quick else 3
        return [
            *cells,
            *(
                Cell(f"translation-{name}", {"corpus": name, "runs": runs} | search_options(self.setting), experiment=True)
                for name in (["tatoeba"] if quick else CORPORA)
            ),
        ]

    def work(self, cell: Cell) -> Result:
        options, n_test, seed = cell.options, cell.options["test"], self.setting.seed

        def make(folder: Path) -> None:
            if "samples" in options:
                text = generate(_n_sentences(options["samples"], seed) + n_test, style=TWLAW.style, seed=seed).bitext
            else:
                text = within(TWLAW.training_text(self.setting, 2 * (options["size"] + n_test)))
                text = text.select(random_part(text, options["size"] + n_test, seed))
            for name, bitext in text.split({"test": n_test, "train": -1}, seed=seed).items():
                bitext.save(folder / name)

        kind, size, _ = cell.name.split("-", 2)
        folder = made_once(self.setting.output / "texts" / f"{kind}-{size}", make)
        result: Result = in_process(_classify, str(folder), LEARNERS[cell.options["learner"]], self.setting.threads)
        return result

    def experiment(self, cell: Cell) -> JsonObject:
        quick = self.setting.quick
        generated = {"sentences": 660, "dev": 30, "test": 30}
        common = {"orientations": "msd", "direction": "bidirectional", "max-distance": 0, "max-length": LONGEST}
        return {
            "corpus": CORPORA[cell.options["corpus"]].experiment_corpus(self.setting, 50_000, generated, test_lines=1000),
            "lm": {"order": 3 if quick else 5},
            "models": {
                "msd": {"model": "lexicalized", **common},
                "primal": {**LEARNERS["primal"], "features": FEATURES, **common},
                "dual": {**LEARNERS["dual-0.1"], "features": FEATURES, **common},
            },
            "translation": {
                "systems": {name: [name] for name in SYSTEMS},
                "limits": [6],
                "baselines": ["msd"],
                "tuning-runs": cell.options["runs"],
                "metrics": ["bleu", "ter"],
                **search(self.setting, pop_limit=500, stack=200),
            },
        }

    def _texts(self, results: Results) -> dict[str, str]:
        """The texts that models were trained on, by prefix of the cells' names, with descriptions."""
        texts = sorted(
            {(kind, int(size)) for kind, size, _ in (f"{name}--".split("-", 2) for name in results) if size.isdigit()}
        )
        units = {"classification": "sentence pairs", "generated": "samples requested, generated text"}
        return {f"{kind}-{size}": f"{size:,} {units[kind]}" for kind, size in texts}

    def _table_2(self, results: Results) -> list[Element]:
        groups: list[tuple[str, list[list[TableCell]]]] = []
        for text, title in self._texts(results).items():
            rows: list[list[TableCell]] = []
            samples = 0
            for name in LEARNERS:
                found = results.get(f"{text}-{name}")
                if found is not None:
                    samples = found["samples"]
                    values = (found["seconds"], found["peak_mib"], found["passes"], found["error"])
                    rows.append([name, *(Number(v, d) for v, d in zip(values, (1, 0, 0, 2), strict=True))])
            groups.append((f"{title}: {samples:,} samples", rows))
        if not groups:
            return []
        theirs: list[list[TableCell]] = [
            [name, Number(60 * minutes), None, None, Number(error, 2)] for name, (minutes, error) in TABLE_2.items()
        ]
        columns = ["", "training, s", "peak, MiB", "passes", "error rate (%)"]
        groups.append((f"{PAPER}, 47 million samples", theirs))
        return [table("table-2", "Primal and dual.", columns, groups)]

    def _table_3(self, results: Results) -> list[Element]:
        found = {name: results[f"translation-{name}"] for name in CORPORA if f"translation-{name}" in results}
        if not found:
            return []
        ours = translation_table("table-3", "Translation.", found, SYSTEMS, "msd", ("BLEU", "TER"))
        return [ours, paper_table("table-3", ("BLEU, MT06", "BLEU, MT08"), SYSTEMS, TABLE_3)]

    def _figure_1(self, results: Results) -> list[Element]:
        elements: list[Element] = []
        for text, title in self._texts(results).items():
            lines = {
                name: {i + 1: value for i, value in enumerate(found["active"])}
                for name in LEARNERS
                if (found := results.get(f"{text}-{name}")) and found["active"]
            }
            if lines:
                caption = f"Active samples by pass, {title}."
                elements.append(
                    CaptionedFigure(f"figure-1-{text}", caption, draw_lines(lines, {}, "pass", "active samples (%)"))
                )
        return elements


def _n_sentences(n_samples: int, seed: int) -> int:
    """Generated text with about this many samples."""
    some = generate(2000, style=TWLAW.style, seed=seed).bitext
    return round(n_samples * len(some) / len(extract(some, LONGEST)))


def _classify(folder: str, options: JsonObject, threads: int) -> Result:
    """Train and test; called in a fresh process, so that its peak memory is measured separately."""
    train, test = (Bitext.load(f"{folder}/{name}") for name in ("train", "test"))
    common = {"features": FEATURES, "orientations": "msd", "max-length": LONGEST, "max-distance": 0}
    plain = {**common, **options}
    model: Any = from_mapping(MODELS[plain.pop("model")], plain)
    model.threads = threads
    model.fit(train)
    peak = peak_mib()
    result = evaluate(model, HeldOut(test, max_length=LONGEST, max_distance=0)).as_json()
    n = int(model.class_counts_.sum())
    active = 100 * np.asarray(model.history_.get("active", []), float) / n
    passes = len(next(iter(model.history_.values()), []))
    return {
        "samples": n,
        "seconds": model.train_seconds_,
        "peak_mib": peak,
        "passes": passes,
        "error": 100 - result["overall_precision"],
        "active": np.round(active, 4).tolist(),
    }
