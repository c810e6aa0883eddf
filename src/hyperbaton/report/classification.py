"""Pictures of orientation classification: by distance (NI11 Fig. 11), by cluster size."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from hyperbaton.base.forms import Json
from hyperbaton.report.figures import draw_lines, numbered


def classification_figures(evaluations: Mapping[str, Mapping[str, Json]]) -> dict[str, Figure]:
    """Pictures, by name, of the results of `Classification.as_json`, by model."""
    by_distance, by_support = precision_by_distance(evaluations), precision_by_support(evaluations)
    figures = {}
    if by_distance:
        counts = {name: numbered(evaluations[name].get("n_by_distance")) for name in by_distance}
        figures["precision-by-distance"] = draw_by_distance(by_distance, counts)
    if by_support:
        counts_by_support = {name: _values(evaluations[name].get("n_by_support")) for name in by_support}
        figures["precision-by-support"] = draw_by_support(by_support, counts_by_support)
    return figures


def precision_by_distance(evaluations: Mapping[str, Mapping[str, Json]]) -> dict[str, dict[int, float]]:
    """Precision at each signed distance by model, for models that have it."""
    lines = {name: numbered(result.get("precision_by_distance")) for name, result in evaluations.items()}
    return lines if any(lines.values()) else {}


def precision_by_support(evaluations: Mapping[str, Mapping[str, Json]]) -> dict[str, dict[str, float]]:
    """Precision by training samples of the source phrase and model, for models that have it."""
    lines = {
        name: _values(result.get("precision_by_support") or result.get("clusters")) for name, result in evaluations.items()
    }
    return lines if any(lines.values()) else {}


def _values(values: Mapping[str, Json] | None) -> dict[str, float]:
    return {name: value for name, value in (values or {}).items() if isinstance(value, int | float)}


def draw_by_distance(
    results: Mapping[str, Mapping[int, float]], counts: Mapping[str, Mapping[int, float]] | None = None
) -> Figure:
    """Percent right at each signed distance, a line for each model: `precision_by_distance` by its name; n below."""
    return draw_lines(results, counts or {}, "distance d", "precision (%)", limits=(-2, 102))


def draw_by_support(
    results: Mapping[str, Mapping[str, float]], counts: Mapping[str, Mapping[str, float]] | None = None
) -> Figure:
    """Percent right by training samples of the source phrase: `precision_by_support` by the model's name; n below."""
    names = list(dict.fromkeys(name for values in results.values() for name in values))
    lines = {model: {names.index(name): value for name, value in values.items()} for model, values in results.items()}
    numbers = {
        model: {names.index(name): n for name, n in values.items() if name in names}
        for model, values in (counts or {}).items()
    }
    figure = draw_lines(lines, numbers, "training samples of the source phrase", "precision (%)")
    figure.axes[-1].set_xticks(range(len(names)), names)
    return figure
