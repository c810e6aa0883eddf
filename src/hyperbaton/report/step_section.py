"""The section `step` (XI11 §7): step models on held-out paths, and in translation."""

from __future__ import annotations

from hyperbaton.report.elements import Cell, Element, Group, Paragraph, Section, Table, TableColumn, number, plain_table
from hyperbaton.report.glossary import about_metrics, decimals_of, title_of, wanted
from hyperbaton.report.model_sections import COSTS, Results, ShapeReport, costs

# Figures that an evaluation may have, with their decimals.
_FIGURES = {
    "accuracy": ("accuracy", 2),
    "jump_accuracy": ("of jumps", 2),
    "mean_logprob": ("log p", 4),
    "mean_jump_logprob": ("of jumps log p", 4),
}


def step_section(results: Results) -> Section:
    """How well step models predict the steps of held-out paths, and the weights of parse siblings."""
    evaluations = results["step"]
    figures = [name for name in _FIGURES if any(model.get(name) is not None for model in evaluations)]
    metrics = list(dict.fromkeys(name for model in evaluations for name in model.get("translation") or {}))
    sized = any(model.get("features") is not None for model in evaluations)
    columns = [TableColumn("model"), TableColumn("n"), *([TableColumn("features")] if sized else [])]
    columns += [TableColumn(_FIGURES[name][0], "high") for name in figures]
    columns += [*(TableColumn(title_of(name), wanted(name)) for name in metrics), *COSTS]
    rows: list[list[Cell]] = []
    for model in evaluations:
        row: list[Cell] = [str(model["model"]), number(model.get("n"))]
        row += [number(model.get("features"))] if sized else []
        row += [number(model.get(name), _FIGURES[name][1]) for name in figures]
        row += [number((model.get("translation") or {}).get(name), decimals_of(name)) for name in metrics]
        rows.append([*row, *costs(model)])
    note = "Percentage of steps that no other step beats, and their mean log-probability."
    note += " Metrics are of the system that has this model alone." if metrics else ""
    about = about_metrics(metrics)
    elements: list[Element] = [
        Paragraph(
            "Step models score the next step of a translation, given the translated words. Each ranked held-out steps."
        ),
        Table("step", "Steps of held-out paths.", columns, [Group(rows)], note, about=about),
    ]
    if siblings := next((model["siblings"] for model in evaluations if model.get("siblings")), None):
        elements.append(
            Paragraph(
                "Features of parse siblings: a weight above 1 makes the translation likelier while the sibling's coverage "
                "is as given (0 not, 2 partly, 1 fully translated; orientation −1 left, 1 right)."
            )
        )
        elements.append(plain_table("siblings", "Parse sibling features.", siblings, "The weight is exp λ."))
    return Section("step", "Step models", elements)


SHAPE = ShapeReport(3, "step models", step_section)
