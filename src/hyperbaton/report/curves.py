"""Pictures that only a report has: scores by distortion limit, tuning curves, jumps by tag, costs of the stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hyperbaton.report.figures import BACK, DISTANCE, FAINT, Chart, distance_colour, legend, looks, one_plot, style

Estimates = Mapping[str, Mapping[str, tuple[float, float, float]]]  # system → limit → value, low, high

_MOST_TAGS = 6
_MOST_STAGES = 12


def draw_by_limit(estimates: Estimates, limits: Sequence[str], xlabel: str) -> Figure:
    """Scores with their intervals: a row for each system, a mark for each distortion limit."""
    n = len(estimates)
    with one_plot(height=1.0 + n * (0.18 + 0.12 * len(limits))) as (figure, axes):
        step = 0.7 / len(limits)
        for k, (limit, look) in enumerate(zip(limits, looks(), strict=False)):
            rows = [row for row, values in enumerate(estimates.values()) if limit in values]
            points = [values[limit] for values in estimates.values() if limit in values]
            ys = [row + (k - (len(limits) - 1) / 2) * step for row in rows]
            xs = [value for value, _, _ in points]
            bars = [[value - low for value, low, _ in points], [high - value for value, _, high in points]]
            name = f"limit {limit}" if limit.isdigit() else "no limit"
            axes.errorbar(xs, ys, xerr=bars, capsize=2, elinewidth=0.8, label=name, **look | {"linestyle": "none"})
        for row in range(1, n):
            axes.axhline(row - 0.5, color=FAINT, linewidth=0.6, zorder=0)
        axes.set_yticks(range(n), list(estimates))
        axes.set_ylim(n - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(xlabel)
        if len(limits) > 1:
            legend(axes)
    return figure


def draw_tuning(curves: Mapping[str, Sequence[tuple[int, float]]], ylabel: str) -> Figure:
    """The objective by iteration, a line for each system."""
    with one_plot() as (figure, axes):
        for (name, points), look in zip(curves.items(), looks(), strict=False):
            axes.plot(*zip(*points, strict=True), label=name, **look)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("iteration")
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def commonest_tags(by_tag: Mapping[str, Mapping[int, float]]) -> list[str]:
    """The tags that fit in the picture, the most frequent first."""
    return sorted(by_tag, key=lambda tag: (-sum(by_tag[tag].values()), tag))[:_MOST_TAGS]


def draw_distances_by_tag(by_tag: Mapping[str, Mapping[int, float]]) -> Figure:
    """Jump distances to words of the most frequent tags, in percent (XI11 Fig. 1 and 2)."""
    tags = commonest_tags(by_tag)
    n_rows = (len(tags) + 1) // 2
    ends = [min(min(by_tag[tag]) for tag in tags), max(max(by_tag[tag]) for tag in tags)]
    with style():
        figure = Chart(figsize=(6.0, 0.6 + 1.25 * n_rows), layout="constrained")
        grid = figure.subplots(n_rows, 2, sharex=True, sharey=True, squeeze=False)
        for axes, tag in zip(grid.flat, tags, strict=False):
            counts, total = by_tag[tag], max(sum(by_tag[tag].values()), 1)
            colours = list(map(distance_colour, counts))
            axes.bar(list(counts), [100 * n / total for n in counts.values()], color=colours, width=0.8)
            axes.set_xticks(range(ends[0], ends[1] + 1, 2))
            axes.set_title(f"{tag} (n = {total:,.0f})", loc="left", fontsize=9)
        for axes in list(grid.flat)[len(tags) :]:
            axes.set_visible(False)
        if len(tags) > 2:  # the right column may end a row earlier
            grid.flat[len(tags) - 2].tick_params(labelbottom=True)
        figure.supxlabel(DISTANCE, fontsize=9)
        figure.supylabel("jumps (%)", fontsize=9)
    return figure


def longest_stages(seconds: Mapping[str, float]) -> list[str]:
    """The stages that fit in the picture, the longest first."""
    return sorted(seconds, key=lambda stage: (-seconds[stage], stage))[:_MOST_STAGES]


def draw_costs(seconds: Mapping[str, float]) -> Figure:
    """The stages that took longest, longest first."""
    stages = longest_stages(seconds)
    with one_plot(height=0.8 + 0.24 * len(stages)) as (figure, axes):
        axes.barh(range(len(stages)), [seconds[stage] for stage in stages], color=BACK, height=0.7)
        axes.set_yticks(range(len(stages)), stages)
        axes.invert_yaxis()
        axes.set_xlabel("seconds")
        axes.spines.left.set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure
