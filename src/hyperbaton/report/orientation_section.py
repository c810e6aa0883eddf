"""The section `orientation` (NI11 §4.1): how often orientation models are right on held-out text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.report import prose
from hyperbaton.report.classification import classification_figures, precision_by_distance, precision_by_support
from hyperbaton.report.elements import (
    CaptionedFigure,
    Cell,
    Element,
    Group,
    Paragraph,
    Section,
    Table,
    TableColumn,
    number,
    plain_table,
)
from hyperbaton.report.glossary import about_class
from hyperbaton.report.model_sections import COSTS, ShapeReport, costs

_MOST_CLUSTERS = 20


def orientation_section(results: Mapping[str, Json]) -> Section:
    """How often orientation models are right: a table and the pictures for each set of classes."""
    evaluations = results["orientation"]
    elements: list[Element] = [
        Paragraph("Orientation models predict how a phrase moves. Each classified the phrase pairs of held-out text.")
    ]
    sets = list(dict.fromkeys(str(model.get("orientations") or "") for model in evaluations))
    if len(sets) > 1 and (rows := _two_classes(evaluations)):
        caption = "All models on two classes: whether a phrase follows the previous one (monotone, d = 0) or moves."
        note = (
            "In percent: how often the model's most probable class is on the same side of this distinction as the true one."
        )
        elements.append(plain_table("orientation-two-classes", caption, rows, note))
    for name in sets:
        models = [model for model in evaluations if str(model.get("orientations") or "") == name]
        ending, words = (f"-{_file(name)}", f", {name} classes") if len(sets) > 1 else ("", "")
        elements.append(_classification(models, ending, words))
        captions = {
            "precision-by-distance": f"Precision at each signed distance d, and the number n of phrase pairs{words}.",
            "precision-by-support": f"Precision by the number of training samples of the source phrase, and n{words}.",
        }
        by_model = {str(model["model"]): model for model in models}
        readings = {
            "precision-by-distance": prose.best_by_place(precision_by_distance(by_model), "distances"),
            "precision-by-support": prose.by_support(precision_by_support(by_model)),
        }
        figures = classification_figures(by_model)
        elements += [
            CaptionedFigure(f"{kind}{ending}", captions[kind], figure, readings[kind]) for kind, figure in figures.items()
        ]
        if rows := _clusters(models):
            elements.append(plain_table(f"clusters{ending}", f"Precision of the largest clusters{words}.", rows))
    return Section("orientation", "Orientation of phrases", elements)


def _classification(models: Sequence[Mapping[str, Json]], ending: str, words: str) -> Table:
    classes = list(dict.fromkeys(name for model in models for name in model.get("f1") or {}))
    has_known = any(model.get("known_precision") is not None for model in models)
    columns = [TableColumn("model"), TableColumn("n"), TableColumn("precision", "high")]
    columns += [TableColumn("known", "high")] if has_known else []
    columns += [TableColumn(f"F1 {name}", "high") for name in classes] + [TableColumn("log p", "high"), *COSTS]
    rows: list[list[Cell]] = []
    for model in models:
        f1 = model.get("f1") or {}
        row: list[Cell] = [str(model["model"]), number(model.get("n")), number(model.get("overall_precision"), 2)]
        row += [number(model.get("known_precision"), 2)] if has_known else []
        row += [number(f1.get(name), 1) for name in classes] + [number(model.get("mean_logprob"), 4), *costs(model)]
        rows.append(row)
    note = "Precision and F1 in percent. Known: among source phrases with at least 10 training samples."
    about = {name: about_class(name) for name in classes} | {"log p": "mean log-probability of the right class"}
    caption = f"Classification of held-out phrase pairs{words}."
    return Table(f"orientation{ending}", caption, columns, [Group(rows)], note if has_known else "", about=about)


def _two_classes(evaluations: Sequence[Mapping[str, Json]]) -> list[JsonObject]:
    """The results of models of different classes, when all classes but one are merged."""
    rows: list[JsonObject] = []
    for model in evaluations:
        names, confusion = list(model.get("f1") or {}), np.array(model.get("confusion") or [])
        follows = next((k for k, name in enumerate(names) if name in ("monotone", "d=0")), None)
        if follows is None or confusion.shape != (len(names), len(names)):
            continue
        both, true, predicted, n = map(
            int, (confusion[follows, follows], confusion[follows].sum(), confusion[:, follows].sum(), confusion.sum())
        )
        right = n - true - predicted + 2 * both
        rows.append(
            {
                "model": str(model["model"]),
                "classes": str(model.get("orientations") or ""),
                "n": n,
                "precision": round(100 * right / max(n, 1), 2),
                "F1 follows": round(200 * both / max(true + predicted, 1), 1),
                "F1 moves": round(200 * (right - both) / max(2 * n - true - predicted, 1), 1),
            }
        )
    return rows


def _clusters(models: Sequence[Mapping[str, Json]]) -> list[JsonObject]:
    """Precision by source phrase, a column for each model that reports n and precision of single phrases."""
    rows: dict[str, JsonObject] = {}
    for model in models:
        for phrase, cluster in (model.get("clusters") or {}).items():
            if isinstance(cluster, dict):
                row = rows.setdefault(phrase, {"source phrase": phrase, "n": cluster.get("n")})
                row[str(model["model"])] = cluster.get("precision")
    return sorted(rows.values(), key=lambda row: -float(row["n"] or 0))[:_MOST_CLUSTERS]


def _file(name: object) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in str(name)).strip("-") or "model"


SHAPE = ShapeReport(1, "orientation models", orientation_section, classification_figures)
