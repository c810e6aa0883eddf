"""The page of a paper: the differences, then every table and figure with the paper's numbers next to ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hyperbaton.report import write_sections
from hyperbaton.report.elements import Element, Listing, Paragraph, Points, Section
from papers.protocol import Paper, Results
from papers.tables import THEIRS


def write_page(paper: Paper, results: Results, n_cells: int, command: str) -> Path:
    """Write the page of a paper into its folder, and return its path."""
    done = f"{len(results)} of the {n_cells} cells of the protocol are done. Rows called “{THEIRS}” have its own numbers."
    protocol: list[Element] = [Paragraph(done), Points(list(_differences(paper)))]
    if command:
        protocol.append(Listing("Command", command))
    sections = [Section("protocol", "What differs", protocol)]
    for item in paper.items:
        elements = paper.elements(item, results) or [Paragraph("Not run yet.")]
        sections.append(Section(item.key, f"{item.name}: {item.title}", elements))
    return write_sections(paper.title, sections, paper.setting.output / "page")


def _differences(paper: Paper) -> Iterable[str]:
    setting = paper.setting
    if setting.data is None:
        yield "The text is generated from a small grammar: these numbers only show that everything works."
        return
    yield from paper.differences
    if setting.tuning_lines:
        yield f"To save time, weights are tuned on the first {setting.tuning_lines:,} lines of the development text."
    if setting.pop_limit:
        yield f"To save time, the search has a pop limit of {setting.pop_limit} at most."
