"""Pictures of orientation classification: by distance (NI11 Fig. 11), by cluster size, by training size (Fig. 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from hyperbaton.evaluate import Classification
from hyperbaton.report.figures import style

COLOURS = ("#2274a5", "#d1495b", "#3c896d", "#8d6a9f", "#e28413", "#546a76", "#22272e", "#c8553d", "#6a994e")
MARKERS = "osD^vP*Xh"


def draw_by_distance(results: Mapping[str, Classification]) -> Figure:
    """Percent right at each signed distance, a line for each model."""
    with style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, result), colour, marker in zip(results.items(), COLOURS, MARKERS, strict=False):
            values = result.precision_by_distance
            axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=3, label=name)
        axes.set_xlabel("distance d")
        axes.set_ylabel("precision (%)")
        axes.set_ylim(0, 100)
        axes.legend(frameon=False)
    return figure


def draw_by_support(results: Mapping[str, Classification]) -> Figure:
    """Percent right by the number of training samples of the source phrase."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, result), colour, marker in zip(results.items(), COLOURS, MARKERS, strict=False):
            values = result.precision_by_support
            if values:
                axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=4, label=name)
        axes.set_xlabel("training samples of the source phrase")
        axes.set_ylabel("precision (%)")
        axes.legend(frameon=False)
    return figure


def draw_by_size(
    figures: Mapping[str, Sequence[tuple[float, float, float]]], ylabel: str, xlabel: str = "sentence pairs (thousands)"
) -> Figure:
    """Lines over training sizes: for each model (size, mean, deviation) in order; deviations are error bars."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, points), colour, marker in zip(figures.items(), COLOURS, MARKERS, strict=False):
            sizes, means, deviations = zip(*points, strict=True)
            axes.errorbar(sizes, means, yerr=deviations, color=colour, marker=marker, markersize=4, capsize=2, label=name)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.legend(frameon=False)
    return figure
