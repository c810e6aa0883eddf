"""The elements of a report: sections of paragraphs, tables, pictures and listings, independent of the output format.

A section is made by one function of one file; a format (`page`, `markdown`, `latex`) is one function of elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal, TypeGuard

from matplotlib.figure import Figure

from hyperbaton.base.forms import Json

NOTHING = "–"


@dataclass(frozen=True)
class Number:
    """A number in a table: `spread` is half the width of its interval, `marks` follow it, `note` is shown on hovering.

    >>> Number(-23.456, 2).text, Number(1234567).text
    ('−23.46', '1,234,567')
    """

    value: float
    decimals: int = 0
    spread: float | None = None
    marks: str = ""
    note: str = ""
    best: bool = False

    @property
    def text(self) -> str:
        return in_digits(self.value, self.decimals)

    @property
    def spread_text(self) -> str:
        return "" if self.spread is None else f"±{self.spread:.{self.decimals}f}"


Cell = str | Number | None


@dataclass(frozen=True)
class TableColumn:
    """A column's title, and which of its numbers is marked as the best."""

    title: str
    best: Literal["high", "low"] | None = None


@dataclass(frozen=True)
class Group:
    """Rows of a table that belong together and are compared with each other."""

    rows: Sequence[Sequence[Cell]]
    title: str = ""


@dataclass(frozen=True)
class Table:
    """A table; `name` is its file's name. The best numbers of each group are marked when it is made."""

    name: str
    caption: str
    columns: Sequence[TableColumn]
    groups: Sequence[Group]
    note: str = ""
    folded: bool = False  # details that most readers skip
    about: Mapping[str, str] = field(default_factory=dict)  # explanations of words in its head and cells, shown on hovering

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", [self._marked(group) for group in self.groups])

    def _marked(self, group: Group) -> Group:
        rows = [list(row) for row in group.rows]
        for k, column in enumerate(self.columns):
            numbers = [(row, cell) for row in rows if isinstance(cell := row[k], Number)]
            if column.best is None or len(numbers) < 2:
                continue
            # Numbers that print the same are equally good.
            shown = [round(cell.value, cell.decimals) for _, cell in numbers]
            wanted = max(shown) if column.best == "high" else min(shown)
            for (row, cell), value in zip(numbers, shown, strict=True):
                row[k] = replace(cell, best=value == wanted)
        return replace(group, rows=rows)

    def cells(self, column: int) -> list[Cell]:
        return [row[column] for group in self.groups for row in group.rows]

    def numeric(self, column: int) -> bool:
        """Whether a column is right-aligned: it has numbers, and no words."""
        cells = [cell for cell in self.cells(column) if cell is not None]
        return bool(cells) and all(isinstance(cell, Number) for cell in cells)

    def marked(self, column: int) -> int:
        """The largest number of marks after a number of a column."""
        return max((len(cell.marks) for cell in self.cells(column) if isinstance(cell, Number)), default=0)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    points: Sequence[str]


@dataclass(frozen=True)
class CaptionedFigure:
    """A picture; `name` is its files' name, `reading` says what it shows.

    `numbers` are series, x and y of the underlying data, if they differ from what is drawn.
    """

    name: str
    caption: str
    figure: Figure
    reading: str = ""
    numbers: Sequence[tuple[str, Any, float]] = ()


@dataclass(frozen=True)
class Listing:
    """Lines to be copied verbatim."""

    title: str
    text: str


@dataclass(frozen=True)
class SystemComparison:
    """Scores of all systems, from which a reader chooses two to compare; only a page can show it.

    scores: limit → system → metric → value, with names as shown; lower: the metrics for which lower values are better;
    pair: the two systems that are compared first.
    """

    scores: Mapping[str, Mapping[str, Mapping[str, float]]]
    lower: Sequence[str]
    pair: tuple[str, str]


@dataclass(frozen=True)
class SentenceBrowser:
    """Test sentences to browse: the objects of `sentences` in results.json; `pair` are the systems shown first."""

    sentences: Sequence[dict[str, object]]
    pair: tuple[str, str] | None = None


@dataclass(frozen=True)
class Cards:
    """Details that a page shows one at a time, when a link in a picture is followed; other formats omit them."""

    cards: Sequence[Section]


Element = Paragraph | Points | Table | CaptionedFigure | Listing | SystemComparison | SentenceBrowser | Cards


@dataclass(frozen=True)
class Section:
    """A section: `id` is its permanent anchor."""

    id: str
    title: str
    elements: list[Element] = field(default_factory=list)


def runs(elements: Iterable[Element]) -> list[tuple[str, list[Element]]]:
    """Consecutive elements of one kind, in order: pictures are drawn side by side."""
    return [(kind, list(run)) for kind, run in groupby(elements, key=lambda element: type(element).__name__)]


def in_digits(value: float, decimals: int) -> str:
    """A number as printed.

    >>> in_digits(-0.0004, 3), in_digits(-1234.5, 1)
    ('0.000', '−1,234.5')
    """
    return f"{value:z,.{decimals}f}".replace("-", "−")


def number(value: Json, decimals: int = 0, **more: Any) -> Number | None:
    """A cell with a value that may be missing."""
    return Number(float(value), decimals, **more) if is_number(value) else None


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def plain_table(name: str, caption: str, rows: Sequence[dict[str, object]], note: str = "") -> Table:
    """A table of objects: a column for each key, with as many decimals as its numbers need, at most three."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    decimals = {key: _decimals(row.get(key) for row in rows) for key in keys}
    cells = [[_cell(row.get(key), decimals[key]) for key in keys] for row in rows]
    return Table(name, caption, [TableColumn(key.replace("_", " ")) for key in keys], [Group(cells)], note)


def _decimals(values: Iterable[object]) -> int:
    texts = [f"{value:.3f}".rstrip("0") for value in values if is_number(value)]
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _cell(value: object, decimals: int) -> Cell:
    if value is None:
        return None
    return number(value, decimals) if is_number(value) else str(value)
