"""Pictures of models of jumps: average probability by distortion (GO13 Fig. 5), accuracy by distance, one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from hyperbaton.evaluate.explain_jumps import JumpExplanation
from hyperbaton.report.figures import BACK, FORWARD, INK, MONOTONE, legend, looks, numbered, style

SHOWN = range(3, 21)  # the distortions of GO13 Fig. 5


def jump_figures(told: Mapping[str, Mapping[str, Any]]) -> dict[str, Figure]:
    """Pictures, by name, of what `NextPositions.as_json` says of models, by theirs."""

    def lines(key: str) -> dict[str, dict[int, float]]:
        found = {name: numbered(held.get(key)) for name, held in told.items()}
        return {name: values for name, values in found.items() if values}

    figures = {}
    if accuracy := lines("accuracy_by_distance"):
        figures["accuracy-by-distance"] = draw_accuracy_by_distance(accuracy)
    if logprob := lines("mean_logprob_by_distance") or lines("logprob_by_distance"):
        figures["logprob-by-distance"] = draw_logprob_by_distance(logprob)
    if average := lines("average_probability"):
        corpus = next(iter(lines("corpus_probability").values()), {})
        figures["probability-by-distortion"] = draw_average_probability(average, corpus)
    return figures


def draw_average_probability(results: Mapping[str, Mapping[int, float]], corpus: Mapping[int, float]) -> Figure:
    """The average probability of candidates at distortions 3 … 20 by model, and how often the corpus has them."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, values), (colour, marker) in zip(results.items(), looks(), strict=False):
            axes.plot(*_shown(values), color=colour, marker=marker, markersize=4, label=name)
        if corpus:
            axes.plot(*_shown(corpus), color=INK, linestyle="--", label="corpus")
        axes.set_yscale("log")
        axes.set_xlabel("distortion j − i − 1")
        axes.set_ylabel("average probability")
        axes.set_xticks(list(SHOWN)[::2])
        legend(axes)
    return figure


def _shown(values: Mapping[int, float]) -> tuple[list[int], list[float]]:
    seen = [d for d in SHOWN if d in values]
    return seen, [values[d] for d in seen]


def draw_accuracy_by_distance(results: Mapping[str, Mapping[int, float]]) -> Figure:
    """Percent of jumps predicted by distortion, a line for each model."""
    figure = _by_distortion(results, "NP predicted (%)")
    figure.axes[0].set_ylim(0, 100)
    return figure


def draw_logprob_by_distance(results: Mapping[str, Mapping[int, float]]) -> Figure:
    """Mean log-probability of the jumps made by distortion, a line for each model."""
    return _by_distortion(results, "mean log P(NP | CP)")


def _by_distortion(results: Mapping[str, Mapping[int, float]], ylabel: str) -> Figure:
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, values), (colour, marker) in zip(results.items(), looks(), strict=False):
            axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=3, label=name)
        axes.set_xlabel("distortion j − i − 1")
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def draw_jumps(told: JumpExplanation) -> Figure:
    """P(NP | CP) as a heat map, rows CP and columns NP, with the visit order as a line through the jumps it makes."""
    n = len(told.words)
    size = max(3.5, 0.42 * (n + 1))
    with style():
        figure = Figure(figsize=(size + 1.2, size), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(told.probabilities, cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(n + 1), [told.name(j) for j in range(n + 1)], rotation=90)
        axes.set_yticks(range(n + 1), [told.name(i) for i in range(-1, n)])
        axes.xaxis.tick_top()
        axes.set_ylabel("current position")
        axes.set_title("next position")
        rows, columns = [i + 1 for i, _ in told.jumps], [j for _, j in told.jumps]
        # From a jump to the next one: down or up to the row of the word it reached.
        axes.plot(columns, rows, color=MONOTONE, linewidth=0.8, zorder=2)
        colours = [FORWARD if j > i + 1 else BACK if j < i else MONOTONE for i, j in told.jumps]
        axes.scatter(columns, rows, s=60, facecolors="none", edgecolors=colours, linewidths=1.4, zorder=3)
        for number, (row, column) in enumerate(zip(rows, columns, strict=True), 1):
            dark = told.probabilities[row, column] > 0.55
            axes.text(column, row, str(number), ha="center", va="center", fontsize=6, color="white" if dark else INK)
        figure.colorbar(image, ax=axes, shrink=0.7, label="P(NP | CP)")
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_aspect(1)
    return figure
