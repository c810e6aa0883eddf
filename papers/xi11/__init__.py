"""Xiang, Ge and Ittycheriah 2011: smoothed priors of jumps and features of the source parse in a joint model of blocks.

The text consists of sentences with trees and others without. There is one cell for each test text (`laws`, `news`) and
each variant of tuning and use: `laws-five` tunes five times, in `laws-shared` all rows have the weights tuned for ME, in
`laws-alone` the model is the only translation model, and so on. `features` has the model's own features and counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperbaton.evaluate.explain_blocks import BlockFeature, TagAnswer
from hyperbaton.report.elements import CaptionedFigure, Element, Number
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.jumps import draw_tag_jumps
from papers.experiments import translation_table
from papers.protocol import Cell, Paper, PaperItem, Result, Results
from papers.tables import THEIRS, paper_table, table
from papers.xi11.cells import MODELS, TEXTS, VARIANTS, Comparison, Features, SharedWeights, SystemComparison, TagJumps
from papers.xi11.numbers import TABLE_2, TABLE_3, TABLE_4

TITLES = {"PBT": "PBT", **{name: model.title for name, model in MODELS.items()}}
QUICK = ("", "alone", "shared")


class Xi11(Paper):
    """Smoothed priors and syntactic features in maximum entropy models of blocks (Xiang et al. 2011)."""

    title = "Xiang, Ge and Ittycheriah 2011: improving reordering with smoothed priors and syntactic features"
    items = (
        PaperItem("Table 1", "parse sibling features of “de”"),
        PaperItem("Table 2", "PDscore"),
        PaperItem("Table 3", "translation, first text"),
        PaperItem("Table 4", "translation, second text"),
        PaperItem("Table 5", "parse sibling features of verbs after prepositional phrases"),
        PaperItem("Figure 1", "jumps of nouns"),
        PaperItem("Figure 2", "jumps of nouns of time"),
    )
    differences = (
        "The text is 20,000 sentence pairs of laws, 6,761 of them with trees; the paper has a million with trees. α is "
        "chosen on held-out sentences, and a step's own jump is left out of its prior.",
        "The two test texts are laws (PDscore by automatic links) and 450 sentences of news with hand-made links.",
        "The model is added to the phrase table's scores; as the only translation model, a little of p(t | s) chooses "
        "the options of a phrase.",
        "Weights are tuned for each row, three times; scores are means. Groups of the tables say where it is otherwise.",
    )

    def comparisons(self) -> list[SystemComparison | SharedWeights]:
        """The cells of Tables 2, 3 and 4."""
        quick, generated = self.setting.quick, self.setting.data is None
        comparisons: list[SystemComparison | SharedWeights] = []
        for name, variant in VARIANTS.items():
            if quick and name not in QUICK:
                continue
            for text in variant.texts:
                if generated and text != "laws":
                    continue
                rows, n_train, n_runs = variant.rows, variant.n_train, variant.n_tuning_runs
                if quick:
                    rows, n_train, n_runs = ("ME", "all"), 600, 1
                comparison = Comparison(text, name, rows, n_train, n_runs)
                comparisons.append(SharedWeights(comparison) if variant.shared else SystemComparison(comparison))
        return comparisons

    def features(self) -> Features:
        """The cell of Tables 1 and 5 and Figures 1 and 2."""
        return Features(600 if self.setting.quick else VARIANTS[""].n_train)

    def cells(self) -> Sequence[Cell[Result]]:
        return [self.features(), *self.comparisons()]

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        features = results.of(self.features())
        match item.name:
            case "Table 1":
                note = (
                    "In the paper the empty target of “de” is favoured (2.0 to 3.4) by a covered QP or NP on its right "
                    "and by an open CP on its left."
                )
                return _feature_table(item, features.de if features else [], note)
            case "Table 5":
                note = "In the paper features of an open PP on the left have exp λ above 1, those of a covered one below."
                return _feature_table(item, features.verbs if features else [], note)
            case "Figure 1":
                return _jump_picture(item, features.nouns if features else None)
            case "Figure 2":
                return _jump_picture(item, features.times if features else None)
            case "Table 2":
                paper = paper_table(item.key, ("Test-278", "Test-52"), TITLES, TABLE_2, THEIRS)
                return self._translation_tables(item, results, tuple(TEXTS), ("PDscore",), paper)
        text, numbers = ("laws", TABLE_3) if item.name == "Table 3" else ("news", TABLE_4)
        metrics = ("BLEU", "TER")
        paper = paper_table(item.key, metrics, TITLES, numbers, THEIRS)
        return self._translation_tables(item, results, (text,), metrics, paper)

    def _translation_tables(
        self, item: PaperItem, results: Results, texts: Sequence[str], metrics: Sequence[str], paper: Element
    ) -> list[Element]:
        groups = {
            ", ".join(filter(None, (TEXTS[text], VARIANTS[cell.comparison.variant].title))): result
            for text in texts
            for cell in self.comparisons()
            if cell.comparison.text == text and (result := results.of(cell)) is not None
        }
        return [translation_table(item.key, "Ours.", groups, TITLES, "ME", metrics), paper] if groups else []


def _feature_table(item: PaperItem, features: Sequence[BlockFeature], note: str) -> list[Element]:
    if not features:
        return []
    columns = ["count", "exp λ", "jump", "target", "source", "node", "coverage", "orientation"]
    rows: list[list[TableCell]] = [
        [
            Number(f.count),
            Number(f.alpha, 2),
            Number(f.jump),
            f.target or "∅",
            f.source,
            f.node or "",
            None if f.coverage is None else Number(f.coverage),
            None if f.orientation is None else Number(f.orientation),
        ]
        for f in features
    ]
    return [table(item.key, "The most frequent features.", columns, [("", rows)], note)]


def _jump_picture(item: PaperItem, jumps: TagJumps | None) -> list[Element]:
    if jumps is None:
        return []
    picture = draw_tag_jumps(TagAnswer(jumps.tag, {int(jump): n for jump, n in jumps.counts.items()}))
    return [CaptionedFigure(item.key, f"Jumps of one-word blocks with the tag {jumps.tag}.", picture)]


PAPER = Xi11
