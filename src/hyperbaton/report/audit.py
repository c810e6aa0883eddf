"""An audit as a self-contained HTML page, which opens at the sentences whose orders differ most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.templates import packed
from hyperbaton.evaluate.audit import LEVEL, LONG, REFERENCE, UNUSUAL, Audit
from hyperbaton.report.elements import Cell, Group, Number, Section, Table, TableColumn
from hyperbaton.report.page import as_page

ABOUT_MOVEMENTS = (
    "Recall is the percentage of the reference's movements that a system makes, precision the percentage of the system's "
    "that the reference makes. n counts those of the reference; distances are in words of the source."
)
COMMON = 100 / 3  # percentage of sentences above which one finding says little
FINDINGS = {
    "long_moves": "long moves",
    "swaps": "swapped neighbours",
    "missing": "missing words",
    "added": "added words",
}


def audit_page(audited: Audit, title: str) -> str:
    """The page of an audit, its sentences by their disagreement; short ones, where each link decides, count less."""
    ranked = np.argsort(-audited.disagreement * np.sqrt(audited.source.lengths), kind="stable").tolist()
    data = {"long": LONG, "unusual": UNUSUAL, "sentences": [asdict(audited[s]) for s in ranked]}
    sections = [Section("systems", "Systems", [_systems(audited)])]
    if audited.movements:
        sections.append(Section("movements", "Movements", [_movements(audited)]))
    values = {"audited": audited, "data": packed(data), "long": LONG, "common": list(_common(audited))}
    return as_page(title, sections, {}, "audit", "page links audit", "links audit", **values)


def _common(audited: Audit) -> Iterator[tuple[str, str, float]]:
    """System, finding and percentage of sentences, of findings in more than a third of the sentences."""
    rows = list(audited.rows())
    for name in (system.name for system in audited.systems):
        for kind, title in FINDINGS.items():
            share = 100 * sum(row[kind] > 0 for row in rows if row["system"] == name) / max(len(audited), 1)
            if share > COMMON:
                yield name, title, share


def _systems(audited: Audit) -> Table:
    measures, names = audited.measures, [system.name for system in audited.systems]
    columns = [TableColumn(f"{row['measure']} {'↑' if row['higher_is_better'] else '↓'}") for row in measures]
    rows: dict[str, list[Cell]] = {name: [_number(row["systems"][name]) for row in measures] for name in names}
    groups = [Group([[name, *cells] for name, cells in rows.items()])]
    if any("reference" in row for row in measures):
        yardstick = [_number(row["reference"]) if "reference" in row else None for row in measures]
        groups.append(Group([[REFERENCE, *yardstick]], "the reference itself"))
    note = f"± is half of the 95% interval. * differs from {names[0]}, p < {LEVEL} with Holm's correction."
    return Table("systems", f"{len(audited):,} sentences.", [TableColumn(""), *columns], groups, note)


def _movements(audited: Audit) -> Table:
    groups: dict[str, list[list[Cell]]] = {}
    for row in audited.movements:
        shares = [Number(share, 1) for of in row["systems"].values() for share in of.values()]
        groups.setdefault(f"by {row['by']}", []).append([row["movement"], Number(row["n"]), *shares])
    titles = ["", "n", *(f"{name} {share}" for name, of in audited.movements[0]["systems"].items() for share in of)]
    by = [Group(rows, title) for title, rows in groups.items()]
    return Table("movements", ABOUT_MOVEMENTS, [TableColumn(title) for title in titles], by)


def _number(cell: JsonObject) -> Number:
    low, high = cell["interval"]
    return Number(cell["value"], 2, (high - low) / 2, "*" if cell.get("p_holm", 1) < LEVEL else "")
