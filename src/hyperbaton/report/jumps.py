"""Pictures of jump models: average probability by distortion (GO13 Fig. 5), accuracy by distance, one sentence, one tag."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from matplotlib.figure import Figure

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Json
from hyperbaton.evaluate import Answer
from hyperbaton.evaluate.explain_blocks import TagAnswer
from hyperbaton.evaluate.explain_jumps import JumpExplanation
from hyperbaton.report.figures import (
    BACK,
    DISTANCE,
    FORWARD,
    INK,
    MONOTONE,
    as_distances,
    distance_colour,
    draw_lines,
    legend,
    looks,
    numbered,
    one_plot,
)

SHOWN = range(-20, -2)  # the distances of GO13 Fig. 5: jumps forward by 3 … 20 words


def jump_figures(evaluations: Mapping[str, Mapping[str, Json]]) -> dict[str, Figure]:
    """Pictures, by name, of the results of `NextPositions.as_json`, by model."""
    counts = jump_lines(evaluations, "n_by_distance")
    figures = {}
    if accuracy := jump_lines(evaluations, "accuracy_by_distance"):
        figures["accuracy-by-distance"] = draw_lines(accuracy, counts, DISTANCE, "NP predicted (%)", (-2, 102))
    if logprob := jump_lines(evaluations, "mean_logprob_by_distance") or jump_lines(evaluations, "logprob_by_distance"):
        figures["logprob-by-distance"] = draw_lines(logprob, counts, DISTANCE, "mean log P(NP | CP)")
    for name, cps in (("probability-by-distortion", ""), ("probability-in-one-class", "far_")):
        if average := jump_lines(evaluations, f"{cps}average_probability"):
            figures[name] = draw_average_probability(average, text_line(evaluations, f"{cps}corpus_probability"))
    return figures


def jump_lines(evaluations: Mapping[str, Mapping[str, Json]], key: str) -> dict[str, dict[int, float]]:
    """Values by signed distance d, for models that have them by distortion."""
    lines = {name: as_distances(numbered(result.get(key))) for name, result in evaluations.items()}
    return {name: values for name, values in lines.items() if values}


def text_line(evaluations: Mapping[str, Mapping[str, Json]], key: str) -> dict[int, float]:
    """Values of the text by distance, which all models share."""
    return next(iter(jump_lines(evaluations, key).values()), {})


def end_means(values: Mapping[int, float]) -> tuple[float, float]:
    """The mean values 5 to 8 and 17 to 20 words forward: both ends of one distance class of GO13's models."""
    near, far = ([values.get(d, 0.0) for d in end] for end in (range(-8, -4), range(-20, -16)))
    return sum(near) / len(near), sum(far) / len(far)


def draw_average_probability(results: Mapping[str, Mapping[int, float]], corpus: Mapping[int, float]) -> Figure:
    """The average probability of candidates 3 … 20 words forward by model, and their frequency in the text."""
    with one_plot() as (figure, axes):
        for (name, values), look in zip(results.items(), looks(), strict=False):
            axes.plot(*shown(values), label=name, **look)
        if corpus:
            axes.plot(*shown(corpus), color=INK, linestyle=(0, (4, 2)), linewidth=2, label="text")
        axes.set_yscale("log")
        axes.set_xlabel(DISTANCE)
        axes.set_ylabel("average probability, logarithmic")
        axes.set_xticks(list(SHOWN)[::3])
        legend(axes)
    return figure


def shown(values: Mapping[int, float]) -> tuple[list[int], list[float]]:
    """Distances and values of the drawn part."""
    seen = [d for d in SHOWN if d in values]
    return seen, [values[d] for d in seen]


@singledispatch
def figure_of(answer: Answer) -> Figure:
    """Draw the explanation of a model."""
    raise OptionError("there is no picture of this result; omit -o")


@figure_of.register
def draw_tag_jumps(answer: TagAnswer) -> Figure:
    """Counts of the jumps −5 … 5 of one-word blocks with a tag (XI11 Fig. 1 and 2); ±5 include farther ones."""
    jumps, counts = list(answer.counts), list(answer.counts.values())
    with one_plot(5.2, 3.2) as (figure, axes):
        axes.bar(jumps, counts, color=[distance_colour(1 - jump) for jump in jumps])
        axes.set_xticks(jumps)
        axes.set_xlabel("jump")
        axes.set_ylabel("count")
        axes.set_title(f"{answer.tag} ({sum(counts):,})", loc="left")
    return figure


@figure_of.register
def draw_jumps(explanation: JumpExplanation) -> Figure:
    """P(NP | CP) as a heat map, rows CP and columns NP, with the visit order as a line through its jumps."""
    n = len(explanation.words)
    size = max(3.5, 0.42 * (n + 1))
    with one_plot(size + 1.2, size) as (figure, axes):
        image = axes.imshow(explanation.probabilities, cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(n + 1), [explanation.name(j) for j in range(n + 1)], rotation=90)
        axes.set_yticks(range(n + 1), [explanation.name(i) for i in range(-1, n)])
        axes.xaxis.tick_top()
        axes.set_ylabel("current position")
        axes.set_title("next position")
        rows, columns = [i + 1 for i, _ in explanation.jumps], [j for _, j in explanation.jumps]
        # From one jump to the next: down or up to the row of the word reached.
        axes.plot(columns, rows, color=MONOTONE, linewidth=0.8, zorder=2)
        colours = [FORWARD if j > i + 1 else BACK if j < i else MONOTONE for i, j in explanation.jumps]
        axes.scatter(columns, rows, s=60, facecolors="none", edgecolors=colours, linewidths=1.4, zorder=3)
        for number, (row, column) in enumerate(zip(rows, columns, strict=True), 1):
            dark = explanation.probabilities[row, column] > 0.55
            # Colours that do not change on a dark screen, like the cells.
            colour = "#fefefe" if dark else "#1a1a1a"
            axes.text(column, row, str(number), ha="center", va="center", fontsize=6, color=colour)
        figure.colorbar(image, ax=axes, shrink=0.7, label="P(NP | CP)")
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_aspect(1)
    return figure
