"""The tables of NI11 from finished cells: 4 (sizes), 5 and 6 (F1 with t-tests), and the overall precision of Fig. 10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.orientation.cells import Cell, Experiment
from hyperbaton.evaluate import paired_test, summarize

Results = dict[Cell, dict[str, Any]]
Figure = Callable[[dict[str, Any]], float]


def by_repeat(results: Results, size: int, kind: str, model: str, figure: Figure) -> dict[int, float]:
    """A figure of each repeat that is there."""
    found = (cell for cell in results if (cell.size, cell.orientations, cell.model) == (size, kind, model))
    return {cell.repeat: figure(results[cell]) for cell in sorted(found, key=lambda cell: cell.repeat)}


def values(results: Results, size: int, kind: str, model: str, figure: Figure) -> list[float]:
    """A figure of all repeats."""
    return list(by_repeat(results, size, kind, model, figure).values())


def sample_table(experiment: Experiment, results: Results, kind: str) -> list[dict[str, Any]]:
    """NI11 Table 4: phrase pairs of each class in training and test, means over repeats."""
    rows = []
    first = next(iter(experiment.models))
    for size in experiment.sizes:
        cells = [results[c] for c in results if (c.size, c.orientations, c.model) == (size, kind, first)]
        for k, name in enumerate(cells[0]["classes"] if cells else []):
            train = np.mean([cell["classes"][name] for cell in cells])
            test = np.mean([np.sum(cell["confusion"][k]) for cell in cells])
            rows.append({"sentences": size, "class": name, "training": int(train), "test": int(test)})
    return rows


def figure_table(experiment: Experiment, results: Results, kind: str, title: str, figure: Figure) -> list[dict[str, Any]]:
    """One figure for every size and model, mean ± deviation, then p of the paired t-test of `best` against each model."""
    rows = []
    for size in experiment.sizes:
        row: dict[str, Any] = {title: f"{size:,}"}
        for model in experiment.models:
            held = values(results, size, kind, model, figure)
            row[model] = "{:.2f} ± {:.2f}".format(*summarize(held)) if held else "-"
        rows.append(row)
    tests: dict[str, Any] = {title: f"p against {experiment.best}"}
    for model in experiment.models:
        both: list[tuple[float, float]] = []
        for size in experiment.sizes:
            best, other = (by_repeat(results, size, kind, m, figure) for m in (experiment.best, model))
            both.extend((best[repeat], other[repeat]) for repeat in best if repeat in other)
        p = paired_test([a for a, _ in both], [b for _, b in both])
        tests[model] = "-" if p is None or model == experiment.best else f"{p:.2e}"
    return [*rows, tests]


def all_tables(experiment: Experiment, results: Results) -> list[tuple[str, list[dict[str, Any]]]]:
    """Every table with its title."""
    tables = []
    for kind in experiment.orientations:
        tables.append((f"phrase pairs, {kind} classes (NI11 Table 4)", sample_table(experiment, results, kind)))
        for title, figure in (
            ("overall precision", lambda cell: cell["overall_precision"]),
            ("precision, phrases with ≥ 10 samples", lambda cell: cell["known_precision"] or np.nan),
            ("mean log p", lambda cell: cell["mean_logprob"]),
            ("training seconds", lambda cell: cell["train_seconds"]),
            ("training MiB", lambda cell: cell["train_peak_mib"]),
        ):
            tables.append((f"{title}, {kind} classes", figure_table(experiment, results, kind, title, figure)))
        names = next((r["f1"] for c, r in results.items() if c.orientations == kind), {})
        for name in names:
            table = figure_table(experiment, results, kind, name, lambda cell, name=name: cell["f1"][name])
            tables.append((f"F1 of {name}, {kind} classes (NI11 Tables 5 and 6)", table))
    return tables
