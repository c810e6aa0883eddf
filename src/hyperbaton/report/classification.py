"""Pictures of orientation classification: by distance (NI11 Fig. 11), by cluster size, by training size (Fig. 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from hyperbaton.report.figures import legend, looks, numbered, style


def classification_figures(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Figure]:
    """Pictures, by name, of what `Classification.as_json` says of models, by theirs."""
    by_distance = {name: numbered(held.get("precision_by_distance")) for name, held in told.items()}
    by_support = {name: _values(held.get("precision_by_support") or held.get("clusters")) for name, held in told.items()}
    figures = {}
    if any(by_distance.values()):
        figures["precision-by-distance"] = draw_by_distance(by_distance)
    if any(by_support.values()):
        figures["precision-by-support"] = draw_by_support(by_support)
    return figures


def _values(held: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: value for name, value in (held or {}).items() if isinstance(value, int | float)}


def draw_by_distance(results: Mapping[str, Mapping[int, float]]) -> Figure:
    """Percent right at each signed distance, a line for each model: `precision_by_distance` by its name."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, values), (colour, marker) in zip(results.items(), looks(), strict=False):
            axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=3, label=name)
        axes.set_xlabel("distance d")
        axes.set_ylabel("precision (%)")
        axes.set_ylim(0, 100)
        legend(axes)
    return figure


def draw_by_support(results: Mapping[str, Mapping[str, float]]) -> Figure:
    """Percent right by training samples of the source phrase: `precision_by_support` by the model's name."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, values), (colour, marker) in zip(results.items(), looks(), strict=False):
            if values:
                axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=4, label=name)
        axes.set_xlabel("training samples of the source phrase")
        axes.set_ylabel("precision (%)")
        legend(axes)
    return figure


def draw_by_size(
    figures: Mapping[str, Sequence[tuple[float, float, float]]], ylabel: str, xlabel: str = "sentence pairs (thousands)"
) -> Figure:
    """Lines over training sizes: for each model (size, mean, deviation) in order; deviations are error bars."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, points), (colour, marker) in zip(figures.items(), looks(), strict=False):
            sizes, means, deviations = zip(*points, strict=True)
            axes.errorbar(sizes, means, yerr=deviations, color=colour, marker=marker, markersize=4, capsize=2, label=name)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure
