"""What moves in a bitext: corpus statistics, phrase pairs by orientation class, and the distribution of distances.

The tables and the picture are those of Ni 2011: Figure 9 (corpus sizes, distances) and Table 4 (samples by class).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hyperbaton.corpus import Bitext
from hyperbaton.phrases import OrientationSet, Samples, orientation_set
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
    distance = samples.distance_before.astype(int)
    shown, lengths = np.arange(-FARTHEST, FARTHEST + 1), np.arange(1, 31)
    near = distance[np.abs(distance) <= FARTHEST]
    counts = np.bincount(near + FARTHEST, minlength=len(shown)) / max(len(samples), 1) * 100
    by_length = np.bincount(np.abs(distance), minlength=len(lengths) + 1)
    cumulative = np.cumsum(by_length[1 : len(lengths) + 1]) / max(int(by_length[1:].sum()), 1) * 100
    three = class_table(samples, orientation_set("three"))
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        colours = [FORWARD if d < 0 else BACK if d > 0 else MONOTONE for d in shown]
        left.bar(shown, counts, color=colours, width=0.85)
        left.set_yscale("log")
        left.set_xlabel("distance d")
        left.set_ylabel("phrase pairs (%)")
        for row, colour, x in zip(three, (FORWARD, MONOTONE, BACK), (0.12, 0.5, 0.88), strict=True):
            label = f"{row['class']}\n{row['percent']}%"
            left.text(x, 0.98, label, transform=left.transAxes, color=colour, ha="center", va="top", weight="bold")
        left.set_ylim(top=left.get_ylim()[1] * 6)
        right.plot(lengths, cumulative, color=INK, marker="o", markersize=3)
        right.axvline(3.5, color=FAINT, zorder=0)
        right.set_xlabel("|d|")
        right.set_ylabel("movements up to |d| (%)")
        right.set_ylim(0, 100)
        if title:
            figure.suptitle(title)
    return figure
