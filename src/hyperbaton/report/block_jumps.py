"""How far blocks of one source word jump, by their tag (XI11 Fig. 1 and 2)."""

from __future__ import annotations

from matplotlib.figure import Figure

from hyperbaton.evaluate.explain_blocks import TagAnswer
from hyperbaton.report.figures import distance_colour, one_plot


def draw_tag_jumps(answer: TagAnswer) -> Figure:
    """Counts of the jumps −5 … 5 of one-word blocks with a tag, in the training text; ±5 include farther ones."""
    jumps, counts = list(answer.counts), list(answer.counts.values())
    with one_plot(5.2, 3.2) as (figure, axes):
        axes.bar(jumps, counts, color=[distance_colour(1 - jump) for jump in jumps])
        axes.set_xticks(jumps)
        axes.set_xlabel("jump")
        axes.set_ylabel("count")
        axes.set_title(f"{answer.tag} ({sum(counts):,})", loc="left")
    return figure
