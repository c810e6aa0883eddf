"""The sections `costs` and `reproduction`: what everything cost, and how to reproduce it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperbaton.base.counted import counted
from hyperbaton.base.forms import Json
from hyperbaton.report import prose
from hyperbaton.report.curves import draw_costs, longest_stages
from hyperbaton.report.elements import (
    CaptionedFigure,
    Cell,
    Element,
    Group,
    Listing,
    Number,
    Paragraph,
    Section,
    Table,
    TableColumn,
    is_number,
    number,
    plain_table,
)

# Title, key of results.json, digits, and how stages add up.
_COSTS: list[tuple[str, str, int, Callable[[list[float]], float]]] = [
    ("seconds", "seconds", 1, sum),
    ("CPU s", "cpu_seconds", 1, sum),
    ("peak MiB", "peak_mib", 0, max),
    ("output MiB", "output_mib", 1, sum),
]
_FEW = 12  # stages that are listed one by one


def costs_section(results: Mapping[str, Json]) -> Section:
    """Time and memory, by kind of stage and for every stage."""
    costs: Sequence[Mapping[str, Json]] = results["costs"]
    shown = [cost for cost in _COSTS if any(is_number(row.get(cost[1])) for row in costs)]
    columns = [TableColumn(title) for title, *_ in shown]

    def added(rows: Sequence[Mapping[str, Json]]) -> list[Cell]:
        cells: list[Cell] = []
        for _, key, digits, add in shown:
            values = [row[key] for row in rows if is_number(row.get(key))]
            cells.append(number(add(values), digits) if values else None)
        return cells

    whole = Group([["all", Number(len(costs)), *added(costs)]])
    kinds: dict[str, list[Mapping[str, Json]]] = {}
    for row in costs:
        kinds.setdefault(str(row.get("kind") or ""), []).append(row)
    by_kind = Group([[name, Number(len(rows)), *added(rows)] for name, rows in kinds.items()])
    stages = Group([[str(row["stage"]), str(row.get("kind") or ""), *added([row])] for row in costs])
    note = "Times and sizes are sums, peaks the highest."
    elements: list[Element] = [Paragraph(_spent(costs))]
    seconds = {str(row["stage"]): float(row["seconds"]) for row in costs if is_number(row.get("seconds"))}
    if len(seconds) > 1:
        reading = prose.costs(seconds, longest_stages(seconds))
        elements.append(CaptionedFigure("costs", "The stages that took longest.", draw_costs(seconds), reading))
    kind, folded = TableColumn("kind"), len(costs) > _FEW
    kind_columns, stage_columns = [kind, TableColumn("stages"), *columns], [TableColumn("stage"), kind, *columns]
    elements += [
        Table("costs", "Time and memory by kind of stage.", kind_columns, [by_kind, whole], note),
        Table("stages", "Time and memory of every stage.", stage_columns, [stages], folded=folded),
    ]
    return Section("costs", "Costs", elements)


def _spent(costs: Sequence[Mapping[str, Json]]) -> str:
    seconds, used = (sum(float(row[key]) for row in costs if is_number(row.get(key))) for key in ("seconds", "cpu_seconds"))
    processor = f", {used:,.0f} s of processor time" if used else ""
    return f"{counted(len(costs), 'stage')} took {seconds:,.0f} s{processor}, added up."


def reproduction_section(results: Mapping[str, Json]) -> Section | None:
    """The versions, inputs and options that the numbers depend on."""
    signature = results.get("signature") or {}
    elements: list[Element] = [Paragraph("Equal versions, inputs, options and seeds give equal numbers.")]
    names = {"package": "hyperbaton", "python": "Python", "seed": "seed", "experiment": "experiment"}
    rows: list[list[Cell]] = [
        [title, str(signature[key])] for key, title in names.items() if signature.get(key) is not None
    ]
    rows += [[str(name), str(version)] for name, version in (signature.get("libraries") or {}).items()]
    if rows:
        elements.append(Table("signature", "Signature.", [TableColumn(""), TableColumn("")], [Group(rows)]))
    if inputs := signature.get("inputs"):
        lines: list[list[Cell]] = [
            [str(name), str(entry.get("path", "")), number(entry.get("lines")), str(entry.get("sha256", ""))]
            for name, entry in inputs.items()
        ]
        columns = [*map(TableColumn, ("input", "file", "lines", "SHA-256"))]
        elements.append(Table("inputs", "Inputs.", columns, [Group(lines)]))
    if options := results.get("options"):
        elements.append(Listing("Experiment", as_toml(options)))
    return Section("reproduction", "Reproduction", elements) if len(elements) > 1 else None


def as_toml(options: Mapping[str, Json]) -> str:
    """Nested options as TOML.

    >>> print(as_toml({"seed": 1, "model": {"lr": {"kind": "lexicalized", "limits": [10, 20]}}}))
    seed = 1
    <BLANKLINE>
    [model.lr]
    kind = "lexicalized"
    limits = [10, 20]
    """
    return "\n".join(_toml(options, "")).strip("\n")


def _toml(options: Mapping[str, Json], path: str) -> Iterator[str]:
    tables = {key: inner for key, value in options.items() if (inner := _tables(value))}
    for key, value in options.items():
        if key not in tables and value is not None:
            yield f"{_key(key)} = {_toml_value(value)}"
    for key, inner in tables.items():
        name = f"{path}.{_key(key)}" if path else _key(key)
        is_list = isinstance(options[key], list)
        for table in inner:
            # A table that contains only tables needs no heading.
            if is_list or not table or not all(map(_tables, table.values())):
                yield from ("", f"[[{name}]]" if is_list else f"[{name}]")
            yield from _toml(table, name)


def _tables(value: Json) -> list[Mapping[str, Json]]:
    """The tables that a value is, if it is any."""
    tables = [value] if isinstance(value, dict) else value
    return tables if isinstance(tables, list) and all(isinstance(item, dict) for item in tables) else []


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key, ensure_ascii=False)


def _toml_value(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def stages_section(results: Mapping[str, Json]) -> Section:
    """The results of stages of other than the usual kinds: a table for each."""
    stages = results["stages"].items()
    tables = [plain_table(f"stage-{kind}", f"Results of the stage {kind}.", rows) for kind, rows in stages]
    return Section("stages", "Further stages", [Paragraph("Results of stages of other kinds."), *tables])
