"""The report as Markdown: tables with pipes, pictures in files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hyperbaton.base.forms import Json
from hyperbaton.base.templates import environment
from hyperbaton.report.elements import NOTHING, Cell, Section, runs
from hyperbaton.report.sentences import segments_of


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole report; pictures are in `figures/`, and the tables contain the numbers of comparisons."""
    templates = environment(__package__, plain=_plain, cell=_cell, fence=_fence, phrases=_phrases, runs=runs)
    templates.autoescape = False
    return templates.get_template("report.md").render(title=title, sections=sections)


def _cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return _plain(cell) if cell is not None else NOTHING
    text = f"**{cell.text}**" if cell.best else cell.text
    return f"{text}{cell.marks} {cell.spread_text}" if cell.spread is not None else f"{text}{cell.marks}"


def _fence(text: str) -> str:
    """The line around a listing, longer than any such line in it."""
    return "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])


def _phrases(sentence: Mapping[str, Json], hypothesis: Mapping[str, Json]) -> str:
    segments = segments_of(hypothesis, len(sentence["source"]))
    return " ".join(f"[{segment.begin + 1}–{segment.end}: {segment.target or '∅'}]" for segment in segments)


def _plain(text: object) -> str:
    """Escape all special characters of Markdown and HTML.

    >>> _plain("a|b <c> *d* & e_f")
    'a\\\\|b &lt;c&gt; \\\\*d\\\\* &amp; e\\\\_f'
    """
    plain = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", plain)
