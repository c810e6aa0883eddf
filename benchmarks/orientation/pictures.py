"""The pictures of NI11 and AL14 from finished cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.orientation.cells import Cell, Experiment
from benchmarks.orientation.tables import Results, values
from hyperbaton.evaluate import summarize
from hyperbaton.report.classification import draw_by_size
from hyperbaton.report.figures import BACK, COLOURS, FAINT, FORWARD, INK, legend, style, write_figure


def write_pictures(folder: Path, experiment: Experiment, results: Results) -> None:
    """Draw what the finished cells allow."""
    for kind in experiment.orientations:
        present = [m for m in experiment.models if any((c.orientations, c.model) == (kind, m) for c in results)]
        for name, label in (("overall_precision", "overall precision (%)"), ("train_seconds", "training time (s)")):
            lines = {}
            for model in present:
                held = {s: values(results, s, kind, model, lambda cell, name=name: cell[name]) for s in experiment.sizes}
                lines[model] = [(s / 1000, *summarize(found)) for s, found in held.items() if found]
            number = {"overall_precision": "fig10", "train_seconds": "fig15"}[name]
            write_figure(draw_by_size(lines, label), folder / f"{number}-{kind}.svg")
        largest = max((c.size for c in results if c.orientations == kind), default=0)
        write_figure(by_distance(results, kind, largest, present), folder / f"fig11-{kind}.svg")
        for other in present:
            if other != experiment.best and experiment.best in present:
                figure = by_cluster(folder, results, kind, largest, experiment.best, other)
                write_figure(figure, folder / f"fig13-{kind}-{other}.svg".replace(" ", "_"))
    if experiment.best in experiment.models:
        write_figure(switching(experiment, results), folder / "fig12.svg")
    if any(result["active"] for result in results.values()):
        write_figure(active_sets(results), folder / "al14-fig1.svg")


def by_distance(results: Results, kind: str, size: int, models: list[str]) -> Figure:
    """NI11 Fig. 11: precision at each distance, means over repeats."""
    with style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.subplots()
        for model, colour in zip(models, COLOURS, strict=False):
            cells = [r for c, r in results.items() if (c.size, c.orientations, c.model) == (size, kind, model)]
            shared = sorted({int(d) for cell in cells for d in cell["precision_by_distance"]})
            means = [np.mean([c["precision_by_distance"].get(str(d), np.nan) for c in cells]) for d in shared]
            axes.plot(shared, means, color=colour, marker="o", markersize=2.5, label=model)
        axes.set_xlabel("distance d")
        axes.set_ylabel("precision (%)")
        axes.set_title(f"{size:,} sentence pairs, {kind} classes")
        axes.legend(frameon=False)
    return figure


def switching(experiment: Experiment, results: Results) -> Figure:
    """NI11 Fig. 12: improvement of the best model over the others on phrase pairs that move, relative, in percent."""
    with style():
        others = [m for m in experiment.models if m != experiment.best]
        figure = Figure(figsize=(2.6 * len(others), 2.8), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(others), sharey=True))
        for axes, other in zip(panels, others, strict=True):
            for kind, colour, line in zip(experiment.orientations, (FORWARD, BACK, INK), ("--", "-", ":"), strict=False):
                points = []
                for size in experiment.sizes:
                    pair = [values(results, size, kind, m, _moved_precision) for m in (experiment.best, other)]
                    gains = [100 * (a - b) / b for a, b in zip(*pair, strict=False) if b]
                    if gains:
                        points.append((size / 1000, *summarize(gains)))
                if points:
                    sizes, means, deviations = zip(*points, strict=True)
                    axes.errorbar(sizes, means, yerr=deviations, color=colour, linestyle=line, marker="o", label=kind)
            axes.axhline(0, color=FAINT, zorder=0)
            axes.set_title(f"{experiment.best} over {other}")
            axes.set_xlabel("sentence pairs (thousands)")
        panels[0].set_ylabel("relative improvement, d ≠ 0 (%)")
        legend(panels[-1])
    return figure


def _moved_precision(cell: dict[str, object]) -> float:
    """Percent right among phrase pairs that do not stay in place."""
    confusion = np.array(cell["confusion"])
    names = list(cell["f1"])  # type: ignore[call-overload]
    moved = [k for k, name in enumerate(names) if name not in ("d=0", "monotone")]
    return 100 * float(np.diagonal(confusion)[moved].sum()) / max(float(confusion[moved].sum()), 1.0)


def by_cluster(folder: Path, results: Results, kind: str, size: int, best: str, other: str) -> Figure:
    """NI11 Fig. 13: for each source phrase the difference in precision, over its number of training samples."""
    repeat = min(c.repeat for c in results if (c.size, c.orientations, c.model) == (size, kind, best))
    first, second = (np.load(folder / f"{Cell(size, repeat, kind, m).name}.npz") for m in (best, other))
    phrases, numbers = np.unique(first["phrases"], return_inverse=True)
    counts = np.bincount(numbers)
    right = [np.bincount(numbers, held["predicted"] == held["labels"]) / counts for held in (first, second)]
    support = np.zeros(len(phrases))
    held_support = first["support"] if len(first["support"]) else second["support"]
    if len(held_support):
        support[numbers] = held_support
    pair_phrases = np.unique(np.stack([numbers, np.unique(first["pairs"], return_inverse=True)[1]]), axis=1)[0]
    n_targets = np.bincount(pair_phrases, minlength=len(phrases))
    shown = (support >= 10) & (counts >= 3)
    difference = right[0] - right[1]
    with style():
        figure = Figure(figsize=(4.8, 3.8), layout="constrained")
        axes = figure.subplots()
        for mask, colour, area in (
            (np.abs(difference) <= 0.1, FAINT, np.full(len(phrases), 2.0)),
            (difference > 0.1, BACK, 3.0 * n_targets),
            (difference < -0.1, FORWARD, 3.0 * n_targets),
        ):
            here = shown & mask
            axes.scatter(difference[here], support[here], s=area[here], color=colour, alpha=0.5, linewidths=0)
        if shown.any():
            axes.set_yscale("log")
        axes.set_xlabel(f"precision of {best} − {other}")
        axes.set_ylabel("training samples of the source phrase")
        axes.set_title(
            f"{size:,} sentence pairs, {kind}: {(shown & (difference > 0.1)).sum()} better, "
            f"{(shown & (difference < -0.1)).sum()} worse"
        )
    return figure


def active_sets(results: Results) -> Figure:
    """AL14 Fig. 1: the part of the samples still worked on, by pass."""
    with style():
        figure = Figure(figsize=(5.4, 3.4), layout="constrained")
        axes = figure.subplots()
        shown = [(c, r["active"]) for c, r in results.items() if r["active"]]
        for (cell, active), colour in zip(shown, COLOURS, strict=False):
            share = 100 * np.array(active) / max(active[0], 1)
            axes.plot(np.arange(1, len(share) + 1), share, color=colour, label=f"{cell.model}, {cell.size:,}")
        axes.set_xlabel("pass")
        axes.set_ylabel("active samples (%)")
        axes.legend(frameon=False)
    return figure
