"""Cells that are experiments of `run`: systems built, tuned and compared.

The experiments of a paper share one folder, so that what they have in common (text, phrase tables, models) is done once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperbaton.report.elements import Cell, Number, Table
from hyperbaton.reproduce._page import table
from hyperbaton.reproduce._paper import Setting
from hyperbaton.run.execute import Limits, Observer, execute
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import gather
from hyperbaton.run.stage import Stage

RUNS = "runs"


class _Told(Observer):
    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self.setting.say(f"  {stage.name}: {seconds:.0f} s")


def experiment_result(setting: Setting, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Run an experiment, and return what a cell keeps of it: scores, held-out predictions and costs."""
    root = setting.output / RUNS
    plan = make_plan(parse_experiment({"title": name, "seed": setting.seed, **values}, name, Path.cwd()))
    execute(plan, root, Limits(jobs=min(2, setting.threads), threads=setting.threads), _Told(setting))
    results = gather(plan, root)
    kept = {key: results.get(key, []) for key in ("translation", "orientation", "next_position", "step")}
    return {**kept, "corpus": results["corpus"], "seconds": sum(cost["seconds"] for cost in results["costs"])}


def score(result: dict[str, Any], system: str, metric: str = "BLEU") -> Number | None:
    """A metric of a system of an experiment with one limit, with its deviation over tuning runs."""
    for row in result["translation"]:
        if row["system"] == system and metric in row["scores"]:
            value = row["scores"][metric]
            return Number(value["value"], 2, spread=value["deviation"])
    return None


def p_value(result: dict[str, Any], system: str, baseline: str, metric: str = "BLEU") -> float | None:
    """p of the paired bootstrap of a system against a baseline."""
    for row in result["translation"]:
        if row["system"] == system and baseline in row["significance"]:
            return float(row["significance"][baseline][metric]["p"])
    return None


def translation_table(
    name: str,
    caption: str,
    results: Mapping[str, dict[str, Any]],
    systems: Mapping[str, str],
    baseline: str,
    metrics: Sequence[str],
) -> Table:
    """Scores of systems (name → title) in experiments (title → result), a group for each; * where p < 0.05 against the
    baseline."""
    groups = []
    for title, result in results.items():
        rows: list[list[Cell]] = []
        for system, shown in systems.items():
            cells: list[Cell] = [shown]
            for metric in metrics:
                value, p = score(result, system, metric), p_value(result, system, baseline, metric)
                cells.append(value if value is None or p is None or p >= 0.05 else replace(value, marks="*"))
            if any(cell is not None for cell in cells[1:]):
                rows.append(cells)
        groups.append((title, rows))
    note = f"*: p < 0.05 against {systems.get(baseline, baseline)}, paired bootstrap; ± is the deviation over tuning runs."
    return table(name, caption, ["", *metrics], groups, note)
