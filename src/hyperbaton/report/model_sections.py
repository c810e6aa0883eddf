"""The sections `orientation` (NI11 §4.1), `next-position` (GO13 §5) and `block` (XI11 §7): models on held-out text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperbaton.report.blocks import Block, Cell, Column, Group, Picture, Section, Table, Text, number, plain_table
from hyperbaton.report.classification import classification_figures
from hyperbaton.report.jumps import jump_figures
from hyperbaton.report.metric_names import decimals_of, title_of, wanted

_MOST_CLUSTERS = 20
_COSTS = [Column("train s"), Column("train MiB")]


def orientation_section(results: Mapping[str, Any]) -> Section | None:
    """How often models of orientations are right: a table and the pictures for each set of classes."""
    told = results.get("orientation")
    if not told:
        return None
    blocks: list[Block] = []
    sets = list(dict.fromkeys(str(model.get("orientations") or "") for model in told))
    for name in sets:
        models = [model for model in told if str(model.get("orientations") or "") == name]
        ending, words = (f"-{_file(name)}", f", {name} classes") if len(sets) > 1 else ("", "")
        blocks.append(_classification(models, ending, words))
        captions = {
            "precision-by-distance": f"Precision at each signed distance d{words}.",
            "precision-by-support": f"Precision by the number of training samples of the source phrase{words}.",
        }
        figures = classification_figures({str(model["model"]): model for model in models})
        blocks += [Picture(f"{kind}{ending}", captions[kind], figure) for kind, figure in figures.items()]
        if rows := _clusters(models):
            blocks.append(plain_table(f"clusters{ending}", f"Precision of the largest clusters{words}.", rows))
    return Section("orientation", "Orientation of phrases", blocks)


def _classification(models: Sequence[Mapping[str, Any]], ending: str, words: str) -> Table:
    classes = list(dict.fromkeys(name for model in models for name in model.get("f1") or {}))
    known = any(model.get("known_precision") is not None for model in models)
    columns = [Column("model"), Column("n"), Column("precision", "high")]
    columns += [Column("known", "high")] if known else []
    columns += [Column(f"F1 {name}", "high") for name in classes] + [Column("log p", "high"), *_COSTS]
    rows: list[list[Cell]] = []
    for model in models:
        f1 = model.get("f1") or {}
        row: list[Cell] = [str(model["model"]), number(model.get("n")), number(model.get("overall_precision"), 2)]
        row += [number(model.get("known_precision"), 2)] if known else []
        row += [number(f1.get(name), 1) for name in classes] + [number(model.get("mean_logprob"), 4), *_costs(model)]
        rows.append(row)
    note = "Precision and F1 in percent. Known: among source phrases with at least 10 training samples." if known else ""
    return Table(f"orientation{ending}", f"Classification of held-out phrase pairs{words}.", columns, [Group(rows)], note)


def next_position_section(results: Mapping[str, Any]) -> Section | None:
    """How often models of jumps predict the next source word."""
    told = results.get("next_position")
    if not told:
        return None
    directions = list(dict.fromkeys(name for model in told for name in model.get("by_direction") or {}))
    columns = [Column("model"), Column("n"), Column("accuracy", "high")]
    columns += [*(Column(name, "high") for name in directions), Column("log p", "high"), *_COSTS]
    rows: list[list[Cell]] = []
    for model in told:
        parts = [(model.get("by_direction") or {}).get(name) or {} for name in directions]
        row: list[Cell] = [str(model["model"]), number(model.get("n")), number(model.get("accuracy"), 2)]
        row += [number(part.get("accuracy"), 1) for part in parts]
        rows.append([*row, number(model.get("mean_logprob"), 4), *_costs(model)])
    note = "Percent of jumps whose next position is predicted, all and by direction; mean log P(NP | CP)."
    table = Table("next-position", "Prediction of the next source word on held-out text.", columns, [Group(rows)], note)
    captions = {
        "accuracy-by-distance": "Jumps predicted, by distortion.",
        "logprob-by-distance": "Mean log-probability of the jumps made, by distortion.",
        "probability-by-distortion": "Average probability of candidates at each distortion, and how often the text has it.",
    }
    figures = jump_figures({str(model["model"]): model for model in told})
    pictures = [Picture(kind, captions[kind], figure) for kind, figure in figures.items()]
    return Section("next-position", "Next source word", [table, *pictures])


def block_section(results: Mapping[str, Any]) -> Section | None:
    """The joint model of target phrase and jump: scores by features, and the weights of parse siblings."""
    block = results.get("block") or {}
    blocks: list[Block] = []
    if rows := block.get("rows"):
        names = list(dict.fromkeys(name for row in rows for name in row.get("scores") or {}))
        columns = [Column("system"), Column("features"), *(Column(title_of(name), wanted(name)) for name in names)]
        cells = [
            [str(row["system"]), number(row.get("features"))]
            + [number(_value((row.get("scores") or {}).get(name)), decimals_of(name)) for name in names]
            for row in rows
        ]
        blocks.append(Table("block", "The block model by features.", columns, [Group(cells)]))
    if siblings := block.get("siblings"):
        blocks.append(
            Text(
                "Features of parse siblings: a weight above 1 makes the translation likelier while the sibling's coverage "
                "is as told (0 not, 2 partly, 1 wholly translated; orientation −1 left, 1 right)."
            )
        )
        blocks.append(plain_table("siblings", "Parse sibling features.", siblings, "The weight is exp λ."))
    return Section("block", "Block model", blocks) if blocks else None


def _costs(model: Mapping[str, Any]) -> list[Cell]:
    return [number(model.get("train_seconds"), 1), number(model.get("train_peak_mib"))]


def _clusters(models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Precision by source phrase, a column for each model, where models tell n and precision of single phrases."""
    rows: dict[str, dict[str, Any]] = {}
    for model in models:
        for phrase, held in (model.get("clusters") or {}).items():
            if isinstance(held, dict):
                row = rows.setdefault(phrase, {"source phrase": phrase, "n": held.get("n")})
                row[str(model["model"])] = held.get("precision")
    return sorted(rows.values(), key=lambda row: -float(row["n"] or 0))[:_MOST_CLUSTERS]


def _value(held: Any) -> Any:
    return held.get("value") if isinstance(held, dict) else held


def _file(name: Any) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in str(name)).strip("-") or "model"
