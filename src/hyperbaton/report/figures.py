"""The style of all pictures: one palette, one list of fonts, drawn without a display."""

from __future__ import annotations

import csv
import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from os import PathLike
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.writing import writing_file

log = logging.getLogger(__name__)

FORWARD, MONOTONE, BACK = "#d1495b", "#8d99ae", "#2274a5"
INK, PAPER, FAINT = "#22272e", "#ffffff", "#d8dee6"
# Every colour of a picture, and its counterpart on a dark screen; the first nine are those of lines.
DARK = {
    BACK: "#5fb0e0",
    FORWARD: "#ef7d8c",
    "#3c896d": "#62c39d",
    "#8d6a9f": "#bd9ad0",
    "#e28413": "#f2a548",
    "#546a76": "#97b0bd",
    INK: "#e4e8ee",
    "#c8553d": "#e98168",
    "#6a994e": "#97c77b",
    MONOTONE: "#8f9bb0",
    FAINT: "#3a434e",
    PAPER: "#14181d",
}
COLOURS = tuple(DARK)[:9]
MARKERS = "osD^vP*Xh"
DISTANCE = "distance d = i + 1 − j"  # between consecutively translated source words i and j
FORMATS = (".svg", ".png", ".pdf")
FEW = 30  # cases below which a percentage says little
_FADED = "_few: "  # before the name of the faded part of a line, which the legend leaves out

# Fonts for scripts that the default font lacks, if they are installed.
_FALLBACKS = [
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans",
    "WenQuanYi Micro Hei",
    "IPAexGothic",
    "Hiragino Sans",
    "PingFang SC",
    "Arial Unicode MS",
    "Noto Sans Arabic",
]


@contextmanager
def style() -> Iterator[None]:
    """Draw in the common style."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    settings: dict[str, object] = {
        "font.family": ["DejaVu Sans", *(name for name in _FALLBACKS if name in installed)],
        "font.size": 9,
        **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",  # text stays text, drawn with the reader's fonts
        "svg.hashsalt": "hyperbaton",  # makes ids in the file deterministic, as far as matplotlib can
    }
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        yield


class Chart(Figure):
    """A figure that a notebook shows, whatever the settings of matplotlib."""

    def _repr_svg_(self) -> str:
        return svg_text(self)


@contextmanager
def one_plot(width: float = 6.0, height: float = 3.6) -> Iterator[tuple[Figure, Axes]]:
    """A picture with a single plot, in the common style."""
    with style():
        figure = Chart(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


def distance_colour(distance: int) -> str:
    """Red for jumps forward, blue for jumps back, grey for none."""
    return FORWARD if distance < 0 else BACK if distance > 0 else MONOTONE


def numbered(values: Mapping[str, float] | None) -> dict[int, float]:
    """Values by number, in order, of an object read from JSON.

    >>> numbered({"1": 0.5, "-2": 0.25})
    {-2: 0.25, 1: 0.5}
    """
    return dict(sorted((int(key), value) for key, value in (values or {}).items() if value is not None))


def as_distances(distortions: Mapping[int, float]) -> dict[int, float]:
    """Convert values by word distortion j − i − 1 to signed distances d = i + 1 − j; d < 0 is a forward jump.

    >>> as_distances({-2: 0.25, 0: 0.5, 3: 1.0})
    {-3: 1.0, 0: 0.5, 2: 0.25}
    """
    return {-distortion: distortions[distortion] for distortion in sorted(distortions, reverse=True)}


def looks() -> Iterator[Arguments]:
    """Styles of consecutive lines: 36 lines all differ, and any nine in a row have different markers.

    >>> len({str(look) for look, _ in zip(looks(), range(36))})
    36
    """
    for dashes, filled in cycle([("-", True), ("--", False), (":", True), ("-.", False)]):
        for colour, marker in zip(COLOURS, MARKERS, strict=True):
            filling = {} if filled else {"markerfacecolor": PAPER}
            yield {"color": colour, "marker": marker, "linestyle": dashes, "markersize": 4.5, "linewidth": 1.2, **filling}


def draw_lines(
    lines: Mapping[str, Mapping[int, float]],
    counts: Mapping[str, Mapping[int, float]],
    xlabel: str,
    ylabel: str,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """A line for each name; if `counts` are given, a strip below shows the number of cases of each point.

    Points of fewer than `FEW` cases are faded, and no line leads to them.
    """
    with style():
        figure = Chart(figsize=(6.0, 4.4 if any(counts.values()) else 3.6), layout="constrained")
        if any(counts.values()):
            axes, strip = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
            _strip(strip, lines, counts)
            strip.set_ylabel("n (log)")
        else:
            axes = strip = figure.subplots()
        for (name, values), look in zip(lines.items(), looks(), strict=False):
            if not values:  # a name without values keeps its style for other pictures
                continue
            few = {x for x, n in counts.get(name, {}).items() if n < FEW}
            for faded in (True, False):
                points = {x: y if (x in few) == faded else np.nan for x, y in values.items()}
                drawn = look | {"linestyle": "none", "alpha": 0.25} if faded else look
                if not np.isnan([*points.values()]).all():
                    label = f"{_FADED}{name}" if faded else name
                    axes.plot([*points], [*points.values()], label=label, clip_on=False, **drawn)
        if limits is not None:
            axes.set_ylim(*limits)
        strip.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def _strip(axes: Axes, lines: Mapping[str, object], counts: Mapping[str, Mapping[int, float]]) -> None:
    """Counts on a logarithmic scale: bars if all lines have the same ones, otherwise a line for each."""
    different = {tuple(sorted(values.items())) for values in counts.values() if values}
    if len(different) == 1:
        (points,) = different
        axes.bar([x for x, _ in points], [n for _, n in points], color=MONOTONE, width=0.8)
    else:
        for name, look in zip(lines, looks(), strict=False):
            if values := counts.get(name):
                axes.plot(list(values), list(values.values()), **look | {"markersize": 2.5, "linewidth": 0.8})
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.7)
    axes.yaxis.set_major_locator(LogLocator(numticks=3))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))


def legend(axes: Axes) -> None:
    """Put the legend below the picture, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    columns = 2 if max(map(len, labels)) > 16 else min(len(labels), 4 if max(map(len, labels)) <= 8 else 3)
    axes.figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def svg_text(figure: Figure) -> str:
    """The picture as SVG; the same picture gives the same text."""
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings():  # the setting that keeps text as text applies on writing
        # A missing glyph depends on the reader's fonts: the .svg contains the text itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", bbox_inches="tight", facecolor=PAPER, metadata={"Date": None})
    text = re.sub(r"(font-family: [^:;]++);", r"\1, sans-serif;", buffer.getvalue().decode())
    # Some of matplotlib's ids contain memory addresses: renumber them in order.
    names: dict[str, str] = {}
    for name in re.findall(r'\bid="([^"]+)"', text):
        names.setdefault(name, f"p{len(names)}")
    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', lambda m: m[1] + names.get(m[2], m[2]), text)


def with_dark_colours(svg: str) -> str:
    """The picture as a standalone file, with colours for a dark screen if the reader has one.

    >>> with_dark_colours('<svg><path style="fill: #22272e"/></svg>').split("</style>")[1]
    '<path style="fill: #22272e"/></svg>'
    """
    rules = "".join(
        f'[style*="{what}: {colour}"]{{{what}:{other}!important}}'
        for colour, other in DARK.items()
        for what in ("fill", "stroke")
        if f"{what}: {colour}" in svg
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    return re.sub(r"<svg[^<>]*+>", lambda m: m[0] + style, svg, count=1)


def write_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a picture in the format of its name: .svg, .png or .pdf."""
    ending = Path(path).suffix
    if ending not in FORMATS:
        raise OptionError(f"{path}: the name of a picture must end in {', '.join(FORMATS)}")
    with writing_file(path) as aside, warnings.catch_warnings(record=True) as raised:
        if ending == ".svg":
            aside.write_text(with_dark_colours(svg_text(figure)), encoding="utf-8")
            return
        warnings.filterwarnings("always", message="Glyph .* missing from")  # drawn as a box
        metadata = {"CreationDate": None} if ending == ".pdf" else {}
        figure.savefig(aside, format=ending[1:], dpi=160, bbox_inches="tight", facecolor=PAPER, metadata=metadata)
    missing = set()
    for warning in raised:
        if match := _MISSING.match(str(warning.message)):
            missing.add(int(match[1]))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:
        _warn_of_glyphs(tuple(sorted({_script(chr(code)) for code in missing})))


_MISSING = re.compile(r"Glyph (\d+) .* missing from")


def _script(character: str) -> str:
    """The script of a character, the first word of its Unicode name.

    >>> _script("あ"), _script("他"), _script("ע")
    ('Hiragana', 'CJK', 'Hebrew')
    """
    word = unicodedata.name(character, "unnamed").split()[0]
    return word if word == "CJK" else word.capitalize()


@cache
def _warn_of_glyphs(scripts: tuple[str, ...]) -> None:
    """Warn about characters drawn as boxes, once for all pictures of a run."""
    log.warning(
        "no installed font has the %s characters of the picture, so they are drawn as boxes: install a font with them "
        "(Noto Sans CJK for Chinese and Japanese), or write .svg, whose text the reader's fonts draw",
        ", ".join(scripts),
    )


def figure_csv(figure: Figure, numbers: Sequence[tuple[str, Any, float]] = ()) -> str:
    """The numbers in a figure: a row for each point, bar or cell, with its axes and its line.

    `numbers` replace the drawn values, if given.

    >>> figure = Figure()
    >>> _ = figure.subplots().plot([0, 1], [2.0, 3.5], label="a, b")
    >>> print(figure_csv(figure).replace(chr(13), ""), end="")
    axes,series,x,y
    1,"a, b",0,2.0
    1,"a, b",1,3.5
    """
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["axes", "series", "x", "y"])
    for number, axes in enumerate(figure.axes, start=1):
        for series, x, y in numbers or _points(axes):
            rows.writerow([number, series, x, round(y, 10)])
    return text.getvalue()


def _points(axes: Axes) -> Iterator[tuple[str, Any, Any]]:
    """Series, position and value of everything drawn in axes."""
    across, up = _names(axes.xaxis), _names(axes.yaxis)
    for line in axes.lines:
        for x, y in zip(np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata(), float).tolist(), strict=True):
            if not np.isnan(y):
                yield _series(line), across.get(x, x), y
    for bars in axes.containers:
        if isinstance(bars, BarContainer):
            lies = bars.orientation == "horizontal"
            for bar in bars:
                middle = bar.get_y() + bar.get_height() / 2 if lies else bar.get_x() + bar.get_width() / 2
                place = round(float(middle), 6)
                yield (
                    _series(bars),
                    (up if lies else across).get(place, place),
                    float(bar.get_width() if lies else bar.get_height()),
                )
    for image in axes.images:
        shades: npt.NDArray[np.float64] = np.ma.filled(np.ma.asarray(image.get_array(), float), np.nan)
        for (row, column), value in np.ndenumerate(shades):
            yield str(up.get(row, row)), across.get(column, column), float(value)


def _series(drawn: Any) -> str:
    label = str(drawn.get_label()).removeprefix(_FADED)
    return "" if label.startswith("_") else label


def _names(axis: Axis) -> dict[float, str]:
    """The positions of an axis whose labels are not numbers."""
    ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    return {
        float(place): label.get_text() for place, label in ticks if label.get_text() and not _is_number(label.get_text())
    }


def _is_number(text: str) -> bool:
    try:
        float(text.replace("−", "-").replace(",", ""))
    except ValueError:
        return False
    return True
