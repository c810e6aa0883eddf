"""Xiang, Ge and Ittycheriah 2011: smoothed priors of jumps and features of the source parse in a joint model of blocks.

The text consists of sentences with trees and others without. There is one cell for each test text (`laws`, `news`) and
each variant of tuning and use: `laws-five` tunes five times, in `laws-shared` all rows have the weights tuned for ME, in
`laws-alone` the model is the only translation model, and so on. `features` has the model's own features,
`jumps` the jumps of words by tag, and `agreement` the upper bound of PDscore.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperbaton.evaluate.explain_blocks import BlockFeature, TagAnswer
from hyperbaton.report.elements import CaptionedFigure, Element, Number
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.jumps import draw_tag_jumps
from papers.experiments import ExperimentResult, score_rows
from papers.protocol import Cell, Paper, PaperItem, Result, Results
from papers.tables import THEIRS, paper_table, table
from papers.xi11.cells import MODELS, VARIANTS, Comparison, Features, SharedWeights, SystemComparison
from papers.xi11.numbers import TABLE_2, TABLE_3, TABLE_4
from papers.xi11.orders import Agreement, Jumps, TagJumps
from papers.xi11.texts import TEXTS

TITLES = {"PBT": "PBT", **{name: model.title for name, model in MODELS.items()}, "agreement": "two references"}
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
        "The text is 20,000 sentence pairs of laws: 6,761 with trees, and others that have the first instances of n-grams "
        "of the texts to tune on and to test. The paper has a million, chosen in this way, all with trees.",
        "Tags are those of the trees; words of sentences without a tree get the likeliest one. Tags of target words are 50 "
        "word classes.",
        "α is chosen on held-out sentences, and a step's own jump is left out of its prior. Segmentation features are left "
        "out, because there is no morphological analysis.",
        "The two test texts are laws (PDscore by automatic links) and 450 sentences of news with hand-made links.",
        "The model is added to the phrase table's scores; as the only translation model, a little of p(t | s) chooses "
        "the options of a phrase.",
        "Each row has its own weights, from one tuning run. Groups of the tables say where it is otherwise.",
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
        """The cell of Tables 1 and 5."""
        return Features(600 if self.setting.quick else VARIANTS[""].n_train)

    def jumps(self) -> Jumps:
        """The cell of Figures 1 and 2."""
        return Jumps(self.features().n_train)

    def agreement(self) -> Agreement:
        """The cell of the upper bound of Table 2."""
        return Agreement(self.features().n_train)

    def cells(self) -> Sequence[Cell[Result]]:
        return [self.jumps(), self.features(), self.agreement(), *self.comparisons()]

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        features, jumps = results.of(self.features()), results.of(self.jumps())
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
                return _jump_pictures(item, jumps.nouns if jumps else [])
            case "Figure 2":
                return _jump_pictures(item, jumps.times if jumps else [])
            case "Table 2":
                paper = paper_table(item.key, ("Test-278", "Test-52"), TITLES, TABLE_2, THEIRS)
                return [
                    *self._translation_tables(item, results, tuple(TEXTS), ("PDscore",), paper),
                    *self._bound(item, results),
                ]
        text, numbers = ("laws", TABLE_3) if item.name == "Table 3" else ("news", TABLE_4)
        metrics = ("BLEU", "TER")
        paper = paper_table(item.key, ("features", *metrics), TITLES, numbers, THEIRS)
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
        rows = [(title, _rows_with_features(result, metrics)) for title, result in groups.items()]
        note = "*: p < 0.05 against ME, paired bootstrap; ± is the deviation over tuning runs."
        return [table(item.key, "Ours.", ["", "features", *metrics], rows, note), paper] if groups else []

    def _bound(self, item: PaperItem, results: Results) -> list[Element]:
        """How well orders by two sets of links of the same sentences agree."""
        agreement = results.of(self.agreement())
        if agreement is None:
            return []
        rows: list[list[TableCell]] = [
            [links, *(score if (score := scores.get(text)) is None else Number(score, 2) for text in TEXTS)]
            for links, scores in agreement.scores.items()
        ]
        caption = "PDscore of the references, ordered by other links: an upper bound."
        return [table(f"{item.key}-bound", caption, ["", *TEXTS.values()], [("", rows)])]


def _rows_with_features(result: ExperimentResult, metrics: Sequence[str]) -> list[list[TableCell]]:
    """A row of scores for each system, with the number of features of its model."""
    counts = {TITLES[row["model"]]: Number(row["features"]) for row in result.step}
    return [[title, counts.get(str(title)), *scores] for title, *scores in score_rows(result, TITLES, "ME", metrics)]


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


def _jump_pictures(item: PaperItem, texts: Sequence[TagJumps]) -> list[Element]:
    if not texts:
        return []
    pictures: list[Element] = [
        CaptionedFigure(
            f"{item.key}-{number}",
            f"{text.text}: jumps to linked words with the tag {text.tag}, in {text.unit}; farther ones are in the table.",
            draw_tag_jumps(TagAnswer(text.tag, {int(jump): n for jump, n in text.counts.items()})),
        )
        for number, text in enumerate(texts, 1)
        if text.unit == texts[0].unit
    ]
    jumps = [jump.replace("-", "−") for jump in texts[0].counts]
    columns = ["", "distance in", "count", "< −5", *jumps, "> 5"]
    rows: list[list[TableCell]] = []
    for text in texts:
        counts = [text.farther_back, *text.counts.values(), text.farther_forward]
        shares = [Number(100 * n / max(sum(counts), 1), 1) for n in counts]
        rows.append([text.text, text.unit, Number(sum(counts)), *shares])
    note = "In the paper, ±5 include farther jumps."
    return [*pictures, table(item.key, "Jumps, % of the words.", columns, [("", rows)], note)]


PAPER = Xi11
