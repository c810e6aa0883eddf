"""The page of NI11: its tables and figures, from the results of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.evaluate import paired_test
from hyperbaton.report.classification import draw_by_distance, draw_by_size
from hyperbaton.report.elements import CaptionedFigure, Element, Number, Paragraph
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import draw_lines, numbered
from hyperbaton.report.movements import draw_distance_shares
from hyperbaton.reproduce._experiments import translation_table
from hyperbaton.reproduce._ni11_numbers import F1, LEARNERS, PAIRS, SIZES, TABLE_7
from hyperbaton.reproduce._page import PAPER, mean, paper_table, table
from hyperbaton.reproduce._paper import PaperItem, Result, Results

ORIENTATIONS = ("three", "five")
METRICS = ("WER", "BLEU", "NIST", "METEOR")


def cell_name(kind: str, size: int, repeat: int, orientations: str, model: str) -> str:
    """The cell of a model that is trained and tested."""
    return f"{kind}-{size}-{repeat}-{orientations}-{model}".replace(" ", "_")


@dataclass(frozen=True)
class Ni11Page:
    """The data of the page: results, and the kinds of text (with their sizes), models and systems."""

    results: Results
    kinds: Mapping[str, tuple[int, ...]]
    repeats: int
    models: Sequence[str]
    systems: Mapping[str, str]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of random text, which has the most."""
        return self.kinds["random"]

    def elements(self, item: PaperItem) -> list[Element]:
        """The elements of a table or figure, from the method of its name."""
        elements: list[Element] = getattr(self, f"_{item.key.replace('-', '_')}")()
        return elements

    def _repeats_of(self, kind: str, size: int, orientations: str, model: str) -> list[Result]:
        names = [cell_name(kind, size, r, orientations, model) for r in range(1, self.repeats + 1)]
        return [self.results[name] for name in names if name in self.results]

    def _values(self, kind: str, size: int, orientations: str, model: str, *path: str) -> list[float]:
        values = []
        for found in self._repeats_of(kind, size, orientations, model):
            value: Any = found
            for key in path:
                value = value.get(key)  # cells of an earlier version may lack it
            if value is not None:
                values.append(float(value))
        return values

    def _table_4(self) -> list[Element]:
        groups = []
        for kind, sizes in self.kinds.items():
            rows: list[list[TableCell]] = []
            for size in sizes:
                for orientations in ORIENTATIONS:
                    found = self._repeats_of(kind, size, orientations, "LR")
                    for name in found[0]["training"] if found else []:
                        at = _paper_index(size)
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

    def _table_5(self) -> list[Element]:
        return self._f1_tables("table-5", "three")

    def _table_6(self) -> list[Element]:
        return self._f1_tables("table-6", "five")

    def _f1_tables(self, key: str, orientations: str) -> list[Element]:
        elements: list[Element] = []
        for kind, sizes in self.kinds.items():
            for part in ("known", "all"):
                groups = []
                for name, theirs in F1[orientations].items():
                    rows: list[list[TableCell]] = []
                    for size in sizes:
                        cells = [mean(self._values(kind, size, orientations, m, part, "f1", name)) for m in self.models]
                        if not any(cell is not None for cell in cells):
                            continue
                        rows.append([f"{size:,}", *cells])
                        at = _paper_index(size)
                        if at is not None and part == "known":
                            paper = dict(zip(LEARNERS, theirs[at], strict=True))
                            rows.append([PAPER, *(Number(paper[m], 1) if m in paper else None for m in self.models)])
                    if rows:
                        rows.append(["p against MMS", *self._p_values(kind, sizes, orientations, part, name)])
                        groups.append((name, rows))
                if groups:
                    caption = f"F1 by class, {kind} text, {part} phrases."
                    elements.append(table(f"{key}-{kind}-{part}", caption, ["", *self.models], groups))
        return elements

    def _p_values(self, kind: str, sizes: Sequence[int], orientations: str, part: str, name: str) -> list[TableCell]:
        cells: list[TableCell] = []
        for model in self.models:
            pairs = []
            for size in sizes:
                best, other = (self._values(kind, size, orientations, m, part, "f1", name) for m in ("MMS", model))
                pairs += list(zip(best, other, strict=False)) if len(best) == len(other) else []
            p = paired_test([a for a, _ in pairs], [b for _, b in pairs]) if model != "MMS" else None
            cells.append(None if p is None else f"{p:.1e}")
        return cells

    def _figure_10(self) -> list[Element]:
        elements: list[Element] = []
        for orientations in ORIENTATIONS:
            for kind, sizes in self.kinds.items():
                lines, groups = {}, []
                for part in ("known", "all"):
                    rows: list[list[TableCell]] = []
                    for size in sizes:
                        cells = [
                            mean(self._values(kind, size, orientations, m, part, "overall_precision"), 2)
                            for m in self.models
                        ]
                        if any(cell is not None for cell in cells):
                            rows.append([f"{size:,}", *cells])
                    if rows:
                        groups.append((f"{part} phrases", rows))
                for model in self.models:
                    points = []
                    for size in sizes:
                        cell = mean(self._values(kind, size, orientations, model, "known", "overall_precision"), 2)
                        if isinstance(cell, Number):
                            points.append((size / 1000, cell.value, cell.spread or 0.0))
                    if points:
                        lines[model] = points
                if groups:
                    name = f"figure-10-{kind}-{orientations}"
                    caption = f"Overall precision (%), {orientations} classes, {kind} text."
                    note = "The paper's MMS is ahead of LR by 8.5 points on average (three classes) and 8.7 (five)."
                    elements.append(table(name, caption, ["sentence pairs", *self.models], groups, note))
                    elements.append(
                        CaptionedFigure(f"{name}-lines", f"{caption} Known phrases.", draw_by_size(lines, "precision (%)"))
                    )
        return elements

    def _figure_11(self) -> list[Element]:
        elements: list[Element] = []
        for kind, sizes in self.kinds.items():
            size = max((s for s in sizes if self._repeats_of(kind, s, "five", "MMS")), default=None)
            if size is None:
                continue
            found = {m: self._repeats_of(kind, size, "five", m) for m in ("LR", "ME", "MMS", "DPR")}
            lines = {m: numbered(one[0]["known"]["precision_by_distance"]) for m, one in found.items() if one}
            caption = (
                f"Precision by distance, five classes, {kind} text, {size:,} sentence pairs, known phrases, one repeat."
            )
            elements.append(CaptionedFigure(f"figure-11-{kind}", caption, draw_by_distance(lines)))
        return elements

    def _figure_12(self) -> list[Element]:
        groups = []
        others = ("LR", "MMR", "SVM", "ME")
        for kind, sizes in self.kinds.items():
            rows: list[list[TableCell]] = []
            for orientations in ORIENTATIONS:
                moving = [name for name in F1[orientations] if name != "d=0"]
                for size in sizes:
                    row: list[TableCell] = [f"{orientations}, {size:,}"]
                    for other in others:
                        gains = []
                        for name in moving:
                            ours = self._values(kind, size, orientations, "MMS", "known", "f1", name)
                            theirs = self._values(kind, size, orientations, other, "known", "f1", name)
                            gains += [100 * (a - b) / max(b, 1e-9) for a, b in zip(ours, theirs, strict=False)]
                        row.append(mean(gains))
                    if any(cell is not None for cell in row[1:]):
                        rows.append(row)
                        at = _paper_index(size)
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

    def _cluster_rows(self) -> list[JsonObject]:
        return next((found["clusters"] for name, found in self.results.items() if name.startswith("clusters-")), [])

    def _figure_13(self) -> list[Element]:
        rows = self._cluster_rows()
        if not rows:
            return []
        cells: list[list[TableCell]] = []
        for other in ("LR", "ME"):
            gain = np.array([row["MMS"] - row[other] for row in rows])
            cells.append([f"MMS − {other}", *(Number(int(n)) for n in ((gain > 10).sum(), (gain < -10).sum(), len(gain)))])
        columns = ["", "clusters 10 points better", "10 points worse", "clusters"]
        caption = "Clusters of which MMS gets more or fewer samples right; three classes, at least 10 test samples."
        return [table("figure-13", caption, columns, [("", cells)])]

    def _figure_14(self) -> list[Element]:
        rows = sorted(self._cluster_rows(), key=lambda row: row["LR"] - row["MMS"])[:5]
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

    def _figure_15(self) -> list[Element]:
        groups = []
        learners = ("MMR", "SVM", "ME", "MMS")
        for orientations in ORIENTATIONS:
            rows: list[list[TableCell]] = []
            for size in self.sizes:
                cells = [mean(self._values("random", size, orientations, m, "processor_seconds")) for m in learners]
                if any(cell is not None for cell in cells):
                    rows.append([f"{size:,}", *cells])
            if rows:
                groups.append((f"{orientations} classes", rows))
        caption = "Processor seconds to train, features included; in the paper MMS is the fastest, SVM the slowest."
        return [table("figure-15", caption, ["sentence pairs", *learners], groups)] if groups else []

    def _figure_8(self) -> list[Element]:
        found = self.results.get("statistics")
        if found is None:
            return []
        rows: list[list[TableCell]] = [[f"≥ {int(low):,}", Number(n)] for low, n in found["clusters"].items()]
        features = {"features": {int(n): float(count) for n, count in found["features"].items()}}
        return [
            table("figure-8", "Source phrases by training samples.", ["training samples", "source phrases"], [("", rows)]),
            CaptionedFigure(
                "figure-8-features",
                "Features by training samples.",
                draw_lines(features, {}, "training samples", "features"),
            ),
        ]

    def _figure_9(self) -> list[Element]:
        found = self.results.get("statistics")
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
        picture = CaptionedFigure("figure-9-distances", "Phrase pairs by distance.", draw_distance_shares(distances))
        return [table("figure-9", "The text.", ["", "ours", PAPER], [("", rows)]), picture]

    def _table_7(self) -> list[Element]:
        size = 50_000 if 50_000 in self.sizes else self.sizes[-1]
        found = self.results.get(f"translation-{size}")
        if found is None:
            return []
        ours = translation_table(
            "table-7", "Translation.", {f"{size:,} sentence pairs": found}, self.systems, "msd", METRICS
        )
        return [ours, paper_table("table-7", METRICS, self.systems, TABLE_7)]

    def _figure_16(self) -> list[Element]:
        found = {
            f"{size:,} {kind}sentence pairs": self.results[name]
            for kind, key in (("", ""), ("repetitive ", "repetitive-"))
            for size in self.sizes
            if (name := f"translation-{key}{size}") in self.results
        }
        if not found:
            return []
        text = Paragraph("In the paper DPR is ahead of Moses in BLEU from 50,000 pairs on, and more so with more text.")
        return [translation_table("figure-16", "Translation by training size.", found, self.systems, "msd", METRICS), text]


def _paper_index(size: int) -> int | None:
    return SIZES.index(size) if size in SIZES else None
