"""How far phrases and words of a bitext move: the distribution of distances (NI11 Fig. 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hyperbaton.evaluate.word_order import TagJumps, WordOrder
from hyperbaton.phrases import Samples
from hyperbaton.report.figures import BACK, FAINT, FORWARD, INK, MONOTONE, PAPER, Chart, looks, one_plot, style

TAGS = 20  # number of the most frequent tags that are drawn
LABELLED = 0.02  # shares from this on are labelled
FARTHEST = 15  # farther movements are counted, but not drawn: Ni 2011 considers them alignment errors


def draw_distances(samples: Samples, title: str = "") -> Figure:
    """Draw phrase movements: samples by distance, coloured by class, and the share of movements up to each length."""
    values, counts = np.unique(samples.distance_before, return_counts=True)
    by_distance = dict(zip(values.tolist(), counts.tolist(), strict=True))
    with style():
        figure = Chart(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _bars(left, by_distance)
        _cumulative(right, by_distance)
        if title:
            figure.suptitle(title)
    return figure


def draw_distance_bars(counts: Mapping[int, float], xlabel: str = "distance d", ylabel: str = "phrase pairs (%)") -> Figure:
    """Draw the movements of phrases or words by signed distance."""
    with one_plot() as (figure, axes):
        _bars(axes, counts, xlabel, ylabel)
    return figure


def draw_distance_shares(counts: Mapping[int, float]) -> Figure:
    with one_plot() as (figure, axes):
        _cumulative(axes, counts)
    return figure


def draw_order(orders: Mapping[str, WordOrder], jumps: Sequence[TagJumps] = ()) -> Figure:
    """Draw distances and jumps by tag of the first of several texts, and phrase pairs out of reach for all, by name."""
    with style():
        below = 0.6 + 0.24 * len(jumps[:TAGS]) if jumps else 0
        figure = Chart(figsize=(9.6, 3.6 + below), layout="constrained")
        if jumps:
            grid = figure.add_gridspec(2, 2, height_ratios=[3.6, below])
            left, right = (figure.add_subplot(grid[0, column]) for column in (0, 1))
            _heat_map(figure.add_subplot(grid[1, :]), jumps[:TAGS])
        else:
            left, right = figure.subplots(1, 2)
        _bars(left, next(iter(orders.values())).distances)
        for (name, order), look in zip(orders.items(), looks(), strict=False):
            total = max(order.n_phrases, 1)
            limits = np.arange(0, 2 * FARTHEST + 1)
            beyond = [100 * sum(n for d, n in order.distances.items() if abs(d) > limit) / total for limit in limits]
            right.plot(limits, beyond, label=name, **look)
        right.set_xlabel("distortion limit (words)")
        right.set_ylabel("phrase pairs out of reach (%)")
        right.set_ylim(bottom=0)
        if len(orders) > 1:
            right.legend(frameon=False)
    return figure


def _heat_map(axes: Axes, jumps: Sequence[TagJumps]) -> None:
    """The jumps to words of each tag, as shares by distance."""
    shares = np.array([row.by_distance for row in jumps], float)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
    far = shares.shape[1] // 2
    for (y, x), share in np.ndenumerate(shares):
        if share > 0:  # a patch for each, so that its colour follows the page's theme
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=BACK, edgecolor="none", alpha=float(share) ** 0.5))
    axes.set_xlim(-0.5, shares.shape[1] - 0.5)
    axes.set_ylim(len(jumps) - 0.5, -0.5)
    axes.set_yticks(range(len(jumps)), [f"{row.tag}  {row.n:,}" for row in jumps])
    ticks = range(-far, far + 1, 2)
    names = [f"≤ {d}" if d == -far else f"≥ {d}" if d == far else str(d) for d in ticks]
    axes.set_xticks([d + far for d in ticks], names)
    for at in np.argwhere(shares >= LABELLED):
        share = shares[tuple(at)]
        axes.text(
            at[1], at[0], f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=PAPER if share > 0.3 else INK
        )
    axes.set_xlabel("distance d of the jump to a word of this tag (d < 0 forward, d > 0 back), % of its jumps")
    axes.grid(visible=False)


def _bars(axes: Axes, counts: Mapping[int, float], xlabel: str = "distance d", ylabel: str = "phrase pairs (%)") -> None:
    drawn = np.arange(-FARTHEST, FARTHEST + 1)
    total = max(sum(counts.values()), 1)
    colours = {-1: FORWARD, 0: MONOTONE, 1: BACK}
    heights = [100 * counts.get(d, 0) / total for d in drawn.tolist()]
    axes.bar(drawn, heights, color=[colours[sign] for sign in np.sign(drawn).tolist()], width=0.85)
    axes.set_yscale("log" if any(heights) else "linear")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(f"{ylabel}, logarithmic" if any(heights) else ylabel)
    for sign, name in ((-1, "forward, d < 0"), (0, "monotone"), (1, "back, d > 0")):
        percent = 100 * sum(n for d, n in counts.items() if np.sign(d) == sign) / total
        # Above the axes, where they overlap no bar.
        place = 0.5 + 0.36 * sign
        label = f"{name}\n{percent:.1f}%"
        axes.text(
            place, 1.03, label, transform=axes.transAxes, color=colours[sign], ha="center", va="bottom", weight="bold"
        )


def _cumulative(axes: Axes, counts: Mapping[int, float]) -> None:
    farthest = min(max((abs(d) for d in counts), default=1), 2 * FARTHEST)
    lengths = np.arange(1, max(farthest, 2) + 1)
    moved = max(sum(n for d, n in counts.items() if d), 1)
    by_length = [counts.get(k, 0) + counts.get(-k, 0) for k in lengths.tolist()]
    axes.plot(lengths, np.cumsum(by_length) / moved * 100, color=INK, marker="o", markersize=3)
    for percent in (50, 90):
        axes.axhline(percent, color=FAINT, linewidth=0.8, zorder=0)
    axes.set_xlabel("|d|")
    axes.set_ylabel("movements up to |d| (%)")
    axes.set_ylim(0, 102)
