"""How far blocks of one source word jump, by their tag (XI11 Fig. 1 and 2)."""

from __future__ import annotations

from matplotlib.figure import Figure

from hyperbaton.evaluate.explain_blocks import TagAnswer
from hyperbaton.report.figures import BACK, FORWARD, MONOTONE, style


def draw_tag_jumps(answer: TagAnswer) -> Figure:
    """Counts of the jumps −5 … 5 of one-word blocks with a tag, in the training text; ±5 include farther ones."""
    jumps, counts = list(answer.counts), list(answer.counts.values())
    with style():
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        axes = figure.subplots()
        colours = [MONOTONE if j == 1 else FORWARD if j > 1 else BACK for j in jumps]
        axes.bar(jumps, counts, color=colours)
        axes.set_xticks(jumps)
        axes.set_xlabel("jump")
        axes.set_ylabel("count")
        axes.set_title(f"{answer.tag} ({sum(counts):,})", loc="left")
    return figure
