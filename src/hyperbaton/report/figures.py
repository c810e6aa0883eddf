"""The look of all pictures: one palette, one font list, drawn without a display."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

from hyperbaton.base.errors import OptionError
from hyperbaton.base.store import writing_file

FORWARD, MONOTONE, BACK = "#d1495b", "#8d99ae", "#2274a5"
INK, PAPER, FAINT = "#22272e", "#ffffff", "#d8dee6"
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


def write_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a picture as its name says: .svg, .png or .pdf."""
    ending = Path(path).suffix
    if ending not in FORMATS:
        raise OptionError(f"{path}: pictures end in {', '.join(FORMATS)}")
    with writing_file(path) as aside, warnings.catch_warnings():
        # A missing glyph is drawn as a box in .png; the .svg holds the text itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        metadata = {"Date": None} if ending == ".svg" else {"CreationDate": None} if ending == ".pdf" else {}
        figure.savefig(aside, format=ending[1:], dpi=160, bbox_inches="tight", facecolor=PAPER, metadata=metadata)
