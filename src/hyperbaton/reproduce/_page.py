"""The page of a paper: the differences, then every table and figure with the paper's numbers next to ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hyperbaton.evaluate import summarize
from hyperbaton.report import write_sections
from hyperbaton.report.elements import Cell, Element, Group, Listing, Number, Paragraph, Points, Section, Table, TableColumn
from hyperbaton.reproduce._paper import Paper, Results

PAPER = "paper"  # the row or column with the paper's own numbers


def write_page(paper: Paper, results: Results, n_cells: int, command: str) -> Path:
    """Write the page of a paper into its folder, and return its path."""
    setting = paper.setting
    first: list[Element] = [
        Paragraph(
            f"{len(results)} of the {n_cells} cells of the protocol are done. Rows called “{PAPER}” have its own numbers."
        ),
        Points(list(_differences(paper))),
    ]
    if command:
        first.append(Listing("Command", command))
    sections = [Section("protocol", "What differs", first)]
    for item in paper.items:
        elements = paper.elements(item, results) or [Paragraph("Not run yet.")]
        sections.append(Section(item.key, f"{item.name}: {item.title}", elements))
    return write_sections(paper.title, sections, setting.output / "page")


def _differences(paper: Paper) -> Iterable[str]:
    if paper.setting.data is None:
        yield "The text is generated from a small grammar: these numbers only show that everything works."
        return
    yield from paper.differences
    if paper.setting.tuning_lines:
        yield f"To save time, weights are tuned on the first {paper.setting.tuning_lines:,} lines of the development text."
    if paper.setting.pop_limit:
        yield f"To save time, the search has a pop limit of {paper.setting.pop_limit} at most."


def mean(values: Sequence[float], decimals: int = 1) -> Cell:
    """A mean with its deviation, if there are several values; None without any."""
    if not values:
        return None
    average, deviation = summarize(values)
    return Number(average, decimals, spread=deviation if len(values) > 1 else None)


def paper_table(
    key: str, columns: Sequence[str], titles: Mapping[str, str], numbers: Mapping[str, Sequence[float]], group: str = ""
) -> Table:
    """The numbers of a paper's table, by system, next to a table of ours."""
    rows: list[list[Cell]] = [[titles[name], *(Number(value, 2) for value in values)] for name, values in numbers.items()]
    return table(f"{key}-paper", "The paper's.", ["", *columns], [(group, rows)])


def table(
    name: str, caption: str, columns: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[Cell]]]], note: str = ""
) -> Table:
    """A table with titles of columns and titled groups of rows; a missing cell is a dash."""
    return Table(
        name, caption, [TableColumn(title) for title in columns], [Group(rows, title) for title, rows in groups], note
    )
