"""The sections `orientation` (NI11 §4.1), `next-position` (GO13 §5) and `block` (XI11 §7): models on held-out text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperbaton.report import prose
from hyperbaton.report.blocks import Block, Cell, Column, Group, Picture, Section, Table, Text, number, plain_table
from hyperbaton.report.classification import classification_figures, precision_by_distance, precision_by_support
from hyperbaton.report.figures import numbered
from hyperbaton.report.jumps import jump_figures, jump_lines, shown
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
            "precision-by-distance": f"Precision at each signed distance d, and the number n of phrase pairs{words}.",
            "precision-by-support": f"Precision by the number of training samples of the source phrase, and n{words}.",
        }
        by_model = {str(model["model"]): model for model in models}
        counts = {name: numbered(model.get("n_by_distance")) for name, model in by_model.items()}
        readings = {
            "precision-by-distance": _sentences(
                prose.best_by_place(precision_by_distance(by_model), "distances"), prose.few_cases(counts)
            ),
            "precision-by-support": prose.by_support(precision_by_support(by_model)),
        }
        figures = classification_figures(by_model)
        blocks += [Picture(f"{kind}{ending}", captions[kind], figure, readings[kind]) for kind, figure in figures.items()]
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
    by_model = {str(model["model"]): model for model in told}
    lines = {key: jump_lines(by_model, key) for key in ("accuracy_by_distance", "average_probability", "n_by_distance")}
    logprobs = jump_lines(by_model, "mean_logprob_by_distance") or jump_lines(by_model, "logprob_by_distance")
    drawn = {name: dict(zip(*shown(values), strict=True)) for name, values in lines["average_probability"].items()}
    text = next(iter(jump_lines(by_model, "corpus_probability").values()), {})
    told_of = {
        "accuracy-by-distance": (
            "Jumps from source word i whose next word j is predicted, by d = i + 1 − j, and the number n of such jumps.",
            _sentences(
                prose.best_by_place(lines["accuracy_by_distance"], "distances"), prose.few_cases(lines["n_by_distance"])
            ),
        ),
        "logprob-by-distance": (
            "Mean log-probability of the jumps made, by d = i + 1 − j, and their number n.",
            _sentences(prose.best_by_place(logprobs, "distances"), prose.few_cases(lines["n_by_distance"])),
        ),
        "probability-by-distortion": (
            "Average probability of candidates 3 to 20 words forward, and how often the text jumps there.",
            prose.closest(drawn, text),
        ),
    }
    pictures = [
        Picture(kind, told_of[kind][0], figure, told_of[kind][1]) for kind, figure in jump_figures(by_model).items()
    ]
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


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _value(held: Any) -> Any:
    return held.get("value") if isinstance(held, dict) else held


def _file(name: Any) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in str(name)).strip("-") or "model"
