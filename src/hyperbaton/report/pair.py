"""One sentence pair as a picture: its alignment matrix, smallest phrase boxes, and the jumps between them."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from hyperbaton.corpus import Bitext
from hyperbaton.report.boxes import Box, read_pair, smallest
from hyperbaton.report.figures import FAINT, INK, PAPER, distance_colour, style


def draw_pair(bitext: Bitext, sentence: int, *, max_length: int = 8, every_box: bool = False) -> Figure:
    """Draw sentence pair `sentence` (0-based).

    Columns are source words, rows target words, dots links. Boxes are the smallest phrase pairs (or all of them), and an
    arrow connects each to the next one in target order, labelled with its distance d.
    """
    src, tgt, links, boxes = read_pair(bitext, sentence, max_length)
    steps = smallest(boxes)
    with style():
        figure = Figure(figsize=(1.6 + 0.42 * len(src), 1.6 + 0.36 * len(tgt)))
        axes = figure.add_subplot()
        axes.set_xlim(0, max(len(src), 1))
        axes.set_ylim(max(len(tgt), 1), 0)
        axes.set_aspect("equal")
        axes.set_xticks([i + 0.5 for i in range(len(src))], src, rotation=55, ha="left", rotation_mode="anchor")
        axes.set_yticks([j + 0.5 for j in range(len(tgt))], tgt)
        axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for i in range(len(src) + 1):
            axes.axvline(i, color=FAINT, linewidth=0.5, zorder=0)
        for j in range(len(tgt) + 1):
            axes.axhline(j, color=FAINT, linewidth=0.5, zorder=0)
        if every_box:
            for box in boxes:
                axes.add_patch(_rectangle(box, INK, 0.06, 0.4))
        for box in steps:
            axes.add_patch(_rectangle(box, distance_colour(box.distance), 0.22, 1.4))
        if links:
            axes.scatter([i + 0.5 for i, _ in links], [j + 0.5 for _, j in links], s=42, color=INK, zorder=3)
        for before, box in pairwise(steps):
            if box.target[0] < before.target[1]:
                continue  # an alternative for the same words, not a next step
            start = before.source[1] - 0.5, before.target[1] - 0.5
            end = box.source[0] + 0.5, box.target[0] + 0.5
            axes.add_patch(
                FancyArrowPatch(
                    start,
                    end,
                    arrowstyle="-|>",
                    mutation_scale=9,
                    color=distance_colour(box.distance),
                    linewidth=1.3,
                    connectionstyle="arc3,rad=0.12",
                    shrinkA=5,
                    shrinkB=5,
                    zorder=4,
                )
            )
            if box.distance:
                x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
                label = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
                text = axes.text(x, y, f"{box.distance:+d}", ha="center", va="center", fontsize=8, zorder=5, bbox=label)
                text.set_color(distance_colour(box.distance))
        axes.set_xlabel("red jumps forward (d < 0), blue goes back (d > 0), grey is monotone")
    return figure


def _rectangle(box: Box, edge: str, alpha: float, width: float) -> Rectangle:
    (i, ii), (j, jj) = box.source, box.target
    pad = 0.06
    return Rectangle(
        (i + pad, j + pad),
        ii - i - 2 * pad,
        jj - j - 2 * pad,
        facecolor=to_rgba(edge, alpha),
        edgecolor=edge,
        linewidth=width,
        zorder=2,
    )
