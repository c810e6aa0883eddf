"""The section `next-position` (GO13 §5): how often jump models predict the next source word."""

from __future__ import annotations

from collections.abc import Mapping

from hyperbaton.base.forms import Json
from hyperbaton.report import prose
from hyperbaton.report.elements import CaptionedFigure, Cell, Group, Paragraph, Section, Table, TableColumn, number
from hyperbaton.report.jumps import end_means, jump_figures, jump_lines, shown, text_line
from hyperbaton.report.model_sections import COSTS, ShapeReport, costs


def next_position_section(results: Mapping[str, Json]) -> Section:
    """How often jump models predict the next source word."""
    evaluations = results["next_position"]
    directions = list(dict.fromkeys(name for model in evaluations for name in model.get("by_direction") or {}))
    columns = [TableColumn("model"), TableColumn("n"), TableColumn("accuracy", "high")]
    columns += [*(TableColumn(name, "high") for name in directions), TableColumn("log p", "high"), *COSTS]
    rows: list[list[Cell]] = []
    for model in evaluations:
        parts = [(model.get("by_direction") or {}).get(name) or {} for name in directions]
        row: list[Cell] = [str(model["model"]), number(model.get("n")), number(model.get("accuracy"), 2)]
        row += [number(part.get("accuracy"), 1) for part in parts]
        rows.append([*row, number(model.get("mean_logprob"), 4), *costs(model)])
    note = "Percent of jumps whose next position is predicted, all and by direction; mean log P(NP | CP)."
    table = Table("next-position", "Prediction of the next source word on held-out text.", columns, [Group(rows)], note)
    by_model = {str(model["model"]): model for model in evaluations}
    lines = {key: jump_lines(by_model, key) for key in ("accuracy_by_distance", "average_probability")}
    logprobs = jump_lines(by_model, "mean_logprob_by_distance") or jump_lines(by_model, "logprob_by_distance")
    drawn = {name: dict(zip(*shown(values), strict=True)) for name, values in lines["average_probability"].items()}
    far = jump_lines(by_model, "far_average_probability") | {"text": text_line(by_model, "far_corpus_probability")}
    captions = {
        "accuracy-by-distance": (
            "Jumps from source word i whose next word j is predicted, by d = i + 1 − j, and the number n of such jumps.",
            prose.best_by_place(lines["accuracy_by_distance"], "distances"),
        ),
        "logprob-by-distance": (
            "Mean log-probability of the jumps made, by d = i + 1 − j, and their number n.",
            prose.best_by_place(logprobs, "distances"),
        ),
        "probability-by-distortion": (
            "Average probability of candidates 3 to 20 words forward, and how often the text jumps there.",
            prose.closest(drawn, text_line(by_model, "corpus_probability")),
        ),
        "probability-in-one-class": (
            "Average probability of candidates 5 to 20 words forward, over the CPs that have all of them.",
            prose.kept({name: end_means(values) for name, values in far.items() if values}),
        ),
    }
    pictures = [
        CaptionedFigure(kind, captions[kind][0], figure, captions[kind][1])
        for kind, figure in jump_figures(by_model).items()
    ]
    opening = Paragraph(
        "Jump models predict which source word is translated next. Each was tested on the jumps of held-out text."
    )
    return Section("next-position", "Next source word", [opening, table, *pictures])


SHAPE = ShapeReport(2, "jump models", next_position_section, jump_figures)
