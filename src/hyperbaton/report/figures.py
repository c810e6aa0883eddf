"""The look of all pictures: one palette, one font list, drawn without a display."""

from __future__ import annotations

import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from os import PathLike
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hyperbaton.base.errors import OptionError
from hyperbaton.base.store import writing_file

log = logging.getLogger(__name__)

FORWARD, MONOTONE, BACK = "#d1495b", "#8d99ae", "#2274a5"
INK, PAPER, FAINT = "#22272e", "#ffffff", "#d8dee6"
COLOURS = ("#2274a5", "#d1495b", "#3c896d", "#8d6a9f", "#e28413", "#546a76", "#22272e", "#c8553d", "#6a994e")
MARKERS = "osD^vP*Xh"
FORMATS = (".svg", ".png", ".pdf")

# Fonts for scripts that the default one lacks, as far as they are installed.
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
    """Draw in the look of the house."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    settings: dict[str, Any] = {
        "font.family": ["DejaVu Sans", *(name for name in _FALLBACKS if name in installed)],
        "font.size": 9,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",  # text stays text: readers' own fonts draw it
        "svg.hashsalt": "hyperbaton",  # names inside the file are not random, as far as matplotlib can
    }
    with mpl.rc_context(settings):  # type: ignore[arg-type]
        yield


def numbered(values: Mapping[str, float] | None) -> dict[int, float]:
    """Values by number, in order, of an object read from JSON.

    >>> numbered({"1": 0.5, "-2": 0.25})
    {-2: 0.25, 1: 0.5}
    """
    return dict(sorted((int(key), value) for key, value in (values or {}).items() if value is not None))


def looks() -> Iterator[tuple[str, str]]:
    """Colour and marker of one line after the other."""
    return zip(cycle(COLOURS), cycle(MARKERS), strict=False)


def legend(axes: Axes) -> None:
    """Name the lines: inside where they are few, else below the picture, where they hide nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) <= 3:
        axes.legend(frameon=False)
        return
    columns = 2 if max(map(len, labels)) > 16 else 3
    axes.figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def svg_text(figure: Figure) -> str:
    """The picture as SVG: the same picture is the same text."""
    held = io.BytesIO()
    with style(), warnings.catch_warnings():  # that text stays text is settled when the picture is written
        # A missing glyph is a matter of the reader's fonts: the .svg holds the text itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(held, format="svg", bbox_inches="tight", facecolor=PAPER, metadata={"Date": None})
    text = re.sub(r"(font-family: [^;]+);", r"\1, sans-serif;", held.getvalue().decode())
    # Some of matplotlib's names hold addresses in memory: number them as they come.
    names: dict[str, str] = {}
    for name in re.findall(r'\bid="([^"]+)"', text):
        names.setdefault(name, f"p{len(names)}")
    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', lambda m: m[1] + names.get(m[2], m[2]), text)


def write_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a picture as its name says: .svg, .png or .pdf."""
    ending = Path(path).suffix
    if ending not in FORMATS:
        raise OptionError(f"{path}: pictures end in {', '.join(FORMATS)}")
    with writing_file(path) as aside, warnings.catch_warnings(record=True) as raised:
        if ending == ".svg":
            aside.write_text(svg_text(figure), encoding="utf-8")
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
    """Say which characters became boxes, once for all pictures of a run."""
    log.warning(
        "no installed font has the %s characters of the picture, which are drawn as boxes: install a font that does "
        "(Noto Sans CJK for Chinese and Japanese), or write .svg, whose text the reader's fonts draw",
        ", ".join(scripts),
    )
