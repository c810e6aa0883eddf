"""Cells that are experiments of `run`: systems built, tuned and compared.

The experiments of a paper share one folder, so that common parts (text, phrase tables, models) are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from hyperbaton.base.forms import JsonObject
from hyperbaton.report.elements import Cell, Number, Table
from hyperbaton.reproduce._page import table
from hyperbaton.reproduce._paper import Cell as Job
from hyperbaton.reproduce._paper import Result, Setting
from hyperbaton.run.execution import MachineLimits, Observer, StageFailed, execute
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import Plan, make_plan
from hyperbaton.run.results import gather
from hyperbaton.run.stage import Stage, read_json
from hyperbaton.run.translation import Translation, tune_name

RUNS = "runs"


class Experiments(Observer):
    """Cells that are experiments, run together; each result is stored as soon as its stages are done."""

    def __init__(
        self, setting: Setting, keep: Callable[[Job, Result, float], None], fail: Callable[[Job, str], None]
    ) -> None:
        self.setting, self.keep, self.fail = setting, keep, fail
        self.root = setting.output / RUNS
        self.plans: dict[str, tuple[Job, Plan]] = {}  # by the cell's name
        self.reasons: dict[str, str] = {}  # of stages that failed, by the names of their folders

    def add(self, cell: Job, values: JsonObject) -> None:
        """Add a cell and its experiment."""
        values = {"title": cell.name, "seed": self.setting.seed, **values}
        self.plans[cell.name] = cell, make_plan(parse_experiment(values, cell.name, Path.cwd()))

    def execute(self) -> None:
        """Run all stages; those of cells that were added first are started first."""
        self._keep_complete()
        if not self.plans:
            return
        jobs = self.setting.jobs if self.setting.jobs > 1 else min(2, self.setting.threads)
        try:
            stages = chain.from_iterable(plan for _, plan in self.plans.values())
            execute(stages, self.root, MachineLimits(jobs, self.setting.threads), self)
        except StageFailed:
            for cell, plan in self.plans.values():
                self.fail(cell, "; ".join(self.reasons[s.folder_name] for s in plan if s.folder_name in self.reasons))

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self.setting.say(f"  {stage.name}: {seconds:.0f} s")
        self._keep_complete()

    def failed(self, stage: Stage, reason: str) -> None:
        self.reasons[stage.folder_name] = f"stage {stage.name}: {reason}"

    def _keep_complete(self) -> None:
        for cell, plan in list(self.plans.values()):
            if all(stage.is_done(self.root) for stage in plan):
                del self.plans[cell.name]
                result = experiment_result(plan, self.root)
                self.keep(cell, result, result["seconds"])


def run_experiment(setting: Setting, name: str, values: JsonObject, root: Path) -> Plan:
    """Run one experiment in a separate folder, for cells that need its outputs before they can continue."""
    plan = make_plan(parse_experiment({"title": name, "seed": setting.seed, **values}, name, Path.cwd()))
    execute(plan, root, MachineLimits(min(2, setting.threads), setting.threads))
    return plan


def tuned_weights(plan: Plan, root: Path, system: str) -> dict[str, list[float]]:
    """The weights of a system from the tuning run with the best score on the development text."""
    runs = plan.experiment.options(Translation).runs
    files = [plan.stages[tune_name(system, run)].folder(root) / "weights.json" for run in runs]
    best = max((read_json(file) for file in files), key=lambda tuned: float(tuned["score"]))
    return {name: list(values) for name, values in best["weights"].items()}


def experiment_result(plan: Plan, root: Path) -> Result:
    """The result of a cell from its experiment: scores, held-out predictions and costs, in seconds of all its stages."""
    results = gather(plan, root)
    kept = {key: results.get(key, []) for key in ("translation", "orientation", "next_position", "step")}
    return {**kept, "corpus": results["corpus"], "seconds": sum(cost["seconds"] for cost in results["costs"])}


def search(setting: Setting, *, pop_limit: int, stack: int) -> JsonObject:
    """`[translation]`'s tables on search and tuning; a smaller search also has smaller stacks."""
    if setting.quick:
        return {"tuning": {"iterations": 2}, "decoding": {"pop-limit": 20, "stack": 20}}
    pops = min(setting.pop_limit or pop_limit, pop_limit)
    return {"decoding": {"pop-limit": pops, "stack": min(stack, max(pops // 2, 1))}}


def search_options(setting: Setting) -> dict[str, int]:
    """The search and tuning settings that change results, for the options of a cell."""
    chosen = {"tuning_lines": setting.tuning_lines, "pop_limit": setting.pop_limit}
    return {name: value for name, value in chosen.items() if value}


def score(result: JsonObject, system: str, metric: str = "BLEU") -> Number | None:
    """A metric of a system of an experiment with one limit, with its deviation across tuning runs."""
    for row in result["translation"]:
        if row["system"] == system and metric in row["scores"]:
            value = row["scores"][metric]
            return Number(value["value"], 2, spread=value["deviation"])
    return None


def p_value(result: JsonObject, system: str, baseline: str, metric: str = "BLEU") -> float | None:
    """p of the paired bootstrap of a system against a baseline."""
    for row in result["translation"]:
        if row["system"] == system and baseline in row["significance"]:
            return float(row["significance"][baseline][metric]["p"])
    return None


def translation_table(
    name: str,
    caption: str,
    results: Mapping[str, JsonObject],
    systems: Mapping[str, str],
    baseline: str,
    metrics: Sequence[str],
) -> Table:
    """Scores of systems (name → title) in experiments (title → result), a group for each; * if p < 0.05 against the
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
