"""Pictures that only a report has: scores by distortion limit, tuning curves, jumps by tag, costs of the stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hyperbaton.report.figures import BACK, FORWARD, MONOTONE, legend, looks, style

Estimates = Mapping[str, Mapping[str, tuple[float, float, float]]]  # system → limit → value, low, high

_MOST_TAGS = 6
_MOST_STAGES = 12


def draw_by_limit(estimates: Estimates, limits: Sequence[str], ylabel: str) -> Figure:
    """Scores with their intervals over distortion limits, a line for each system; with one limit, a row for each."""
    with style():
        if len(limits) == 1:
            return _rows(estimates, limits[0], ylabel)
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        step = min(0.08, 0.6 / max(len(estimates), 1))
        for k, ((name, held), (colour, marker)) in enumerate(zip(estimates.items(), looks(), strict=False)):
            shift = (k - (len(estimates) - 1) / 2) * step  # side by side, or the intervals hide each other
            xs = [limits.index(limit) + shift for limit in limits if limit in held]
            points = [held[limit] for limit in limits if limit in held]
            ys = [value for value, _, _ in points]
            bars = [[value - low for value, low, _ in points], [high - value for value, _, high in points]]
            axes.errorbar(
                xs, ys, yerr=bars, color=colour, marker=marker, markersize=4, capsize=2, elinewidth=0.8, label=name
            )
        axes.set_xticks(range(len(limits)), limits)
        axes.set_xlabel("distortion limit")
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def _rows(estimates: Estimates, limit: str, xlabel: str) -> Figure:
    named = {name: held[limit] for name, held in estimates.items() if limit in held}
    figure = Figure(figsize=(6.0, 1.0 + 0.32 * len(named)), layout="constrained")
    axes = figure.subplots()
    for k, ((value, low, high), (colour, marker)) in enumerate(zip(named.values(), looks(), strict=False)):
        axes.errorbar([value], [k], xerr=[[value - low], [high - value]], color=colour, marker=marker, capsize=3)
    axes.set_yticks(range(len(named)), list(named))
    axes.invert_yaxis()
    axes.set_xlabel(xlabel)
    axes.margins(y=0.15)
    return figure


def draw_tuning(curves: Mapping[str, Sequence[tuple[int, float]]], ylabel: str) -> Figure:
    """The objective by iteration, a line for each system."""
    with style():
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        axes = figure.subplots()
        for (name, points), (colour, marker) in zip(curves.items(), looks(), strict=False):
            axes.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=3.5, label=name)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("iteration")
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def draw_jumps_by_tag(by_tag: Mapping[str, Mapping[int, float]]) -> Figure:
    """Jumps of the most frequent tags, in percent (XI11 Fig. 1 and 2); a jump of 1 is monotone."""
    chosen = sorted(by_tag, key=lambda tag: (-sum(by_tag[tag].values()), tag))[:_MOST_TAGS]
    n_rows = (len(chosen) + 1) // 2
    with style():
        figure = Figure(figsize=(6.0, 0.6 + 1.25 * n_rows), layout="constrained")
        grid = figure.subplots(n_rows, 2, sharex=True, sharey=True, squeeze=False)
        for axes, tag in zip(grid.flat, chosen, strict=False):
            counts, total = by_tag[tag], max(sum(by_tag[tag].values()), 1)
            colours = [MONOTONE if jump == 1 else FORWARD if jump > 1 else BACK for jump in counts]
            axes.bar(list(counts), [100 * n / total for n in counts.values()], color=colours, width=0.8)
            axes.set_xticks(range(-5, 6, 2))
            axes.text(0.03, 0.96, tag, transform=axes.transAxes, va="top", weight="bold")
        for axes in list(grid.flat)[len(chosen) :]:
            axes.set_visible(False)
        if len(chosen) > 2:  # the right column may end a row earlier
            grid.flat[len(chosen) - 2].tick_params(labelbottom=True)
        figure.supxlabel("jump", fontsize=9)
        figure.supylabel("jumps (%)", fontsize=9)
    return figure


def draw_costs(seconds: Mapping[str, float]) -> Figure:
    """The stages that took longest, longest first."""
    chosen = sorted(seconds, key=lambda stage: (-seconds[stage], stage))[:_MOST_STAGES]
    with style():
        figure = Figure(figsize=(6.0, 0.8 + 0.24 * len(chosen)), layout="constrained")
        axes = figure.subplots()
        axes.barh(range(len(chosen)), [seconds[stage] for stage in chosen], color=BACK, height=0.7)
        axes.set_yticks(range(len(chosen)), chosen)
        axes.invert_yaxis()
        axes.set_xlabel("seconds")
        axes.spines.left.set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure
