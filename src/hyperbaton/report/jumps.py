"""Pictures of models of jumps: average probability by distortion (GO13 Fig. 5), accuracy by distance, one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from hyperbaton.evaluate import NextPositions
from hyperbaton.evaluate.explain_jumps import JumpExplanation
from hyperbaton.report.classification import COLOURS, MARKERS
from hyperbaton.report.figures import BACK, FORWARD, INK, MONOTONE, style

SHOWN = range(3, 21)  # the distortions of GO13 Fig. 5


def draw_average_probability(results: Mapping[str, NextPositions]) -> Figure:
    """The average probability of candidates at distortions 3 … 20 by model, and how often the corpus has them."""
    with style():
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for (name, result), colour, marker in zip(results.items(), COLOURS, MARKERS, strict=False):
            axes.plot(*_shown(result.average_probability), color=colour, marker=marker, markersize=4, label=name)
        corpus = next(iter(results.values())).corpus_probability
        axes.plot(*_shown(corpus), color=INK, linestyle="--", label="corpus")
        axes.set_yscale("log")
        axes.set_xlabel("distortion j − i − 1")
        axes.set_ylabel("average probability")
        axes.set_xticks(list(SHOWN)[::2])
        axes.legend(frameon=False)
    return figure


def _shown(values: Mapping[int, float]) -> tuple[list[int], list[float]]:
    seen = [d for d in SHOWN if d in values]
    return seen, [values[d] for d in seen]


def draw_accuracy_by_distance(results: Mapping[str, NextPositions]) -> Figure:
    """Percent of jumps predicted, and their mean log-probability, by distortion."""
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for (name, result), colour, marker in zip(results.items(), COLOURS, MARKERS, strict=False):
            for axes, values in ((left, result.accuracy_by_distance), (right, result.mean_logprob_by_distance)):
                axes.plot(list(values), list(values.values()), color=colour, marker=marker, markersize=3, label=name)
        left.set_ylabel("NP predicted (%)")
        right.set_ylabel("mean log P(NP | CP)")
        for axes in (left, right):
            axes.set_xlabel("distortion j − i − 1")
        left.set_ylim(0, 100)
        left.legend(frameon=False)
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
