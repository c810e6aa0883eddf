"""What moves in a bitext: corpus statistics, phrase pairs by orientation class, and the distribution of distances.

The tables and the picture are those of Ni 2011: Figure 9 (corpus sizes, distances) and Table 4 (samples by class).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyperbaton.corpus import Bitext
from hyperbaton.phrases import OrientationSet, Samples
from hyperbaton.report.figures import BACK, FAINT, FORWARD, INK, MONOTONE, style

FARTHEST = 15  # Ni 2011 leaves out farther movements as alignment errors


def corpus_statistics(bitext: Bitext) -> list[dict[str, Any]]:
    """Sentences, running words, vocabulary and mean length of both sides."""
    return [
        {
            "side": name,
            "sentences": len(text),
            "words": text.n_tokens,
            "vocabulary": len(np.unique(text.tokens)),
            "mean length": round(text.n_tokens / max(len(text), 1), 1),
        }
        for name, text in (("source", bitext.source), ("target", bitext.target))
    ]


def class_table(samples: Samples, orientations: OrientationSet, farthest: int = FARTHEST) -> list[dict[str, Any]]:
    """How many samples fall into each class, those with |d| > `farthest` left out."""
    near = np.abs(samples.distance_before) <= farthest
    counts = np.bincount(orientations.classify(samples)[near], minlength=len(orientations))
    total = max(int(counts.sum()), 1)
    return [
        {"class": name, "samples": int(count), "percent": round(100 * int(count) / total, 1)}
        for name, count in zip(orientations.names, counts, strict=True)
    ]


def movement_summary(samples: Samples) -> dict[str, float]:
    """Shares, in percent, that say how much a language pair moves."""
    distance = np.abs(samples.distance_before.astype(int))
    moved = max(int((distance > 0).sum()), 1)
    return {
        "moved": 100 * float((distance > 0).mean()) if len(samples) else 0.0,
        "short among moved": 100 * int(((distance > 0) & (distance < 4)).sum()) / moved,
        "beyond 15 among all": 100 * float((distance > FARTHEST).mean()) if len(samples) else 0.0,
    }


def draw_distances(samples: Samples, title: str = "") -> Figure:
    """Draw how far phrases move: samples by distance, coloured by class, and the share of movements up to each length."""
    values, counts = np.unique(samples.distance_before, return_counts=True)
    by_distance = dict(zip(values.tolist(), counts.tolist(), strict=True))
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _bars(left, by_distance)
        _cumulative(right, by_distance)
        if title:
            figure.suptitle(title)
    return figure


def draw_distance_bars(counts: Mapping[int, int], xlabel: str = "distance d", forward: int = -1) -> Figure:
    """Draw how many phrases or words move how far; `forward` is the sign of a jump forward."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        _bars(figure.subplots(), counts, xlabel, forward)
    return figure


def draw_distance_shares(counts: Mapping[int, int]) -> Figure:
    """Draw the share of movements up to each length."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        _cumulative(figure.subplots(), counts)
    return figure


def _bars(axes: Axes, counts: Mapping[int, int], xlabel: str = "distance d", forward: int = -1) -> None:
    shown = np.arange(-FARTHEST, FARTHEST + 1)
    total = max(sum(counts.values()), 1)
    sides = [-1, 0, 1] if forward < 0 else [1, 0, -1]  # forward, monotone, back
    colours = dict(zip(sides, (FORWARD, MONOTONE, BACK), strict=True))
    heights = [100 * counts.get(d, 0) / total for d in shown.tolist()]
    axes.bar(shown, heights, color=[colours[s] for s in np.sign(shown).tolist()], width=0.85)
    axes.set_yscale("log")
    axes.set_xlabel(xlabel)
    axes.set_ylabel("phrase pairs (%)" if forward < 0 else "jumps (%)")
    near = max(sum(n for d, n in counts.items() if abs(d) <= FARTHEST), 1)
    for side, name in zip(sides, ("forward", "monotone", "back"), strict=True):
        percent = 100 * sum(n for d, n in counts.items() if abs(d) <= FARTHEST and np.sign(d) == side) / near
        x = 0.5 + 0.38 * side
        label = f"{name}\n{percent:.1f}%"
        axes.text(x, 0.98, label, transform=axes.transAxes, color=colours[side], ha="center", va="top", weight="bold")
    axes.set_ylim(top=axes.get_ylim()[1] * 6)


def _cumulative(axes: Axes, counts: Mapping[int, int]) -> None:
    farthest = min(max((abs(d) for d in counts), default=1), 2 * FARTHEST)
    lengths = np.arange(1, max(farthest, 2) + 1)
    moved = max(sum(n for d, n in counts.items() if d), 1)
    by_length = [counts.get(k, 0) + counts.get(-k, 0) for k in lengths.tolist()]
    axes.plot(lengths, np.cumsum(by_length) / moved * 100, color=INK, marker="o", markersize=3)
    axes.axvline(3.5, color=FAINT, zorder=0)
    axes.set_xlabel("|d|")
    axes.set_ylabel("movements up to |d| (%)")
    axes.set_ylim(0, 100)
