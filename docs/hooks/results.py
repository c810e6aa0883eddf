"""Figures that the page of a model quotes from the page that tells how they were measured: written down once."""

from __future__ import annotations

import re

from reference import DOCS, table


def _rows(text: str) -> list[list[str]]:
    """The cells of the first table in a text, without the line below its head."""
    lines = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in (lines[0] if lines else "").splitlines()]
    return rows[:1] + rows[2:]


def precision(column: str) -> str:
    """Overall precision of an orientation model, from the tables by classes and training size."""
    found = []
    for section in (DOCS / "results" / "orientation.md").read_text(encoding="utf-8").split("\n### ")[1:]:
        title = re.match(r"(\w+) classes, ([\d,]+) sentence pairs", section)
        if title:
            head, *rows = _rows(section)
            told = {row[0]: row[head.index(column)] for row in rows}
            found.append([title[2], title[1].lower(), told["overall precision"], told["repeats"]])
    return table(["training pairs", "classes", "overall precision", "repeats"], found)


def predicted(model: str) -> str:
    """Held-out accuracy and log-probability of a jump model."""
    page = (DOCS / "results" / "jumps.md").read_text(encoding="utf-8")
    (row,) = [row for row in _rows(page) if row[0] == model]
    return table(["", "Japanese–English", "Chinese–English"], [["predicted", row[1], row[3]], ["log p", row[2], row[4]]])
