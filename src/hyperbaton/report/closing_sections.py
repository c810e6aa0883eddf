"""The sections `costs` and `reproduction`: what everything took, and how to get it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hyperbaton.report.blocks import (
    Block,
    Cell,
    Column,
    Group,
    Listing,
    Number,
    Picture,
    Section,
    Table,
    is_number,
    number,
)
from hyperbaton.report.curves import draw_costs


def costs_section(results: Mapping[str, Any]) -> Section | None:
    """Time and memory of every stage."""
    told = results.get("costs")
    if not told:
        return None
    rows: list[list[Cell]] = [
        [
            str(row["stage"]),
            str(row.get("kind") or ""),
            number(row.get("seconds"), 1),
            number(row.get("peak_mib")),
            number(row.get("output_mib"), 1),
        ]
        for row in told
    ]
    seconds = {str(row["stage"]): float(row["seconds"]) for row in told if is_number(row.get("seconds"))}
    peaks = [row["peak_mib"] for row in told if is_number(row.get("peak_mib"))]
    outputs = [row["output_mib"] for row in told if is_number(row.get("output_mib"))]
    whole: list[Cell] = [
        "all",
        "",
        Number(sum(seconds.values()), 1),
        number(max(peaks, default=None)),
        Number(sum(outputs), 1),
    ]
    columns = [Column("stage"), Column("kind"), Column("seconds"), Column("peak MiB"), Column("output MiB")]
    table = Table(
        "costs", "Time and memory by stage.", columns, [Group(rows), Group([whole])], "All: sums, and the highest peak."
    )
    blocks: list[Block] = [table]
    if len(seconds) > 1:
        blocks.insert(0, Picture("costs", "The stages that took longest.", draw_costs(seconds)))
    return Section("costs", "Costs", blocks)


def reproduction_section(results: Mapping[str, Any]) -> Section:
    """Versions, inputs and options that the numbers depend on."""
    signature = results.get("signature") or {}
    blocks: list[Block] = []
    names = {"package": "hyperbaton", "python": "Python", "seed": "seed", "experiment": "experiment"}
    rows: list[list[Cell]] = [[told, str(signature[key])] for key, told in names.items() if signature.get(key) is not None]
    rows += [[str(name), str(version)] for name, version in (signature.get("libraries") or {}).items()]
    if rows:
        blocks.append(Table("signature", "Signature.", [Column(""), Column("")], [Group(rows)]))
    if inputs := signature.get("inputs"):
        lines: list[list[Cell]] = [
            [str(name), str(held.get("path", "")), number(held.get("lines")), str(held.get("sha256", ""))]
            for name, held in inputs.items()
        ]
        columns = [Column("input"), Column("file"), Column("lines"), Column("SHA-256")]
        blocks.append(Table("inputs", "Inputs.", columns, [Group(lines)]))
    if options := results.get("options"):
        blocks.append(Listing("Experiment", as_toml(options)))
    blocks.append(Listing("This page", "hyperbaton report DIR", folded=False))
    return Section("reproduction", "Reproduction", blocks)


def as_toml(options: Mapping[str, Any]) -> str:
    """Nested options as TOML.

    >>> print(as_toml({"seed": 1, "model": {"lr": {"kind": "lexicalized", "limits": [10, 20]}}}))
    seed = 1
    <BLANKLINE>
    [model.lr]
    kind = "lexicalized"
    limits = [10, 20]
    """
    return "\n".join(_toml(options, "")).strip("\n")


def _toml(options: Mapping[str, Any], path: str) -> Iterator[str]:
    tables = {key: value for key, value in options.items() if _is_table(value) or _is_tables(value)}
    for key, value in options.items():
        if key not in tables and value is not None:
            yield f"{_key(key)} = {_toml_value(value)}"
    for key, value in tables.items():
        inner = f"{path}.{_key(key)}" if path else _key(key)
        for table in value if isinstance(value, list) else [value]:
            heading = f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]"
            # A table that holds only tables needs no heading of its own.
            bare = isinstance(value, dict) and bool(table) and all(_is_table(v) or _is_tables(v) for v in table.values())
            yield from () if bare else ("", heading)
            yield from _toml(table, inner)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _key(key: str) -> str:
    return (
        key if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else json.dumps(key, ensure_ascii=False)
    )


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
