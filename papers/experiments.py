"""Cells that are experiments of `run`: systems built, tuned and compared.

The experiments of a paper share one folder, so that common parts (text, phrase tables, models) are computed once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar, Protocol

from hyperbaton.base.forms import JsonObject
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.elements import Number, Table
from hyperbaton.run.execution import MachineLimits, Observer, StageFailed, execute
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import Plan, make_plan
from hyperbaton.run.results import gather
from hyperbaton.run.stage import Stage, read_json
from hyperbaton.run.translation import Translation, tune_name
from papers.protocol import Cell, Computation, Result, Setting
from papers.tables import table


@dataclass(frozen=True)
class ExperimentResult(Result):
    """Rows of scores and held-out predictions from `results.json` of an experiment, and the seconds of all its stages."""

    translation: list[JsonObject]
    orientation: list[JsonObject]
    next_position: list[JsonObject]
    step: list[JsonObject]
    corpus: JsonObject
    seconds: float

    @classmethod
    def of(cls, plan: Plan, root: Path) -> ExperimentResult:
        """The result of an experiment whose stages are done."""
        results = gather(plan, root)
        translation, orientation, jumps, steps = (
            results.get(key, []) for key in ("translation", "orientation", "next_position", "step")
        )
        seconds = sum(cost["seconds"] for cost in results["costs"])
        return cls(translation, orientation, jumps, steps, results["corpus"], seconds)

    def score(self, system: str, metric: str = "BLEU") -> Number | None:
        """A metric of a system of an experiment with one limit, with its deviation across tuning runs."""
        for row in self.translation:
            if row["system"] == system and metric in row["scores"]:
                score = row["scores"][metric]
                return Number(score["value"], 2, spread=score["deviation"])
        return None

    def marked_score(self, system: str, baseline: str, metric: str = "BLEU") -> Number | None:
        """The score, with * if it differs from the baseline's with p < 0.05 in the paired bootstrap."""
        score = self.score(system, metric)
        for row in self.translation:
            if score and row["system"] == system and baseline in row["significance"]:
                return replace(score, marks="*") if row["significance"][baseline][metric]["p"] < 0.05 else score
        return score


@dataclass(frozen=True)
class Experiment(Cell[ExperimentResult]):
    """A cell that is an experiment of `run`."""

    result_type: ClassVar[type[Result]] = ExperimentResult
    translates: ClassVar[bool] = True

    @abstractmethod
    def experiment(self, setting: Setting) -> JsonObject:
        """The experiment file."""


class Compared(Protocol):
    """Systems to compare, on files of the corpora."""

    @property
    def name(self) -> str:
        """Its name."""

    def corpus_files(self, data: Path) -> Sequence[Path]:
        """The files, as for cells."""


@dataclass(frozen=True)
class OtherWeights(Computation[ExperimentResult]):
    """A comparison whose systems have the weights of others, which are tuned first."""

    comparison: Compared

    result_type: ClassVar[type[Result]] = ExperimentResult
    translates: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.comparison.name

    def corpus_files(self, data: Path) -> Sequence[Path]:
        return self.comparison.corpus_files(data)


class Experiments(Observer):
    """Experiments that share their stages; `store` gets each result as soon as its stages are done."""

    def __init__(
        self,
        setting: Setting,
        store: Callable[[Experiment, ExperimentResult, float], None],
        fail: Callable[[Experiment, str], None],
    ) -> None:
        self.setting, self.store, self.fail = setting, store, fail
        self.root = setting.output / "runs"
        self.plans: dict[Experiment, Plan] = {}
        self.reasons: dict[str, str] = {}  # of stages that failed, by the names of their folders

    def add(self, cell: Experiment) -> None:
        """Plan a cell's experiment."""
        self.plans[cell] = _plan(self.setting, cell.name, cell.experiment(self.setting))

    def execute(self) -> None:
        """Run all stages; those of cells that were added first are started first."""
        self._store_finished()
        if not self.plans:
            return
        n_jobs = self.setting.jobs if self.setting.jobs > 1 else min(2, self.setting.threads)
        try:
            stages = chain.from_iterable(self.plans.values())
            execute(stages, self.root, MachineLimits(n_jobs, self.setting.threads), self)
        except StageFailed:
            for cell, plan in self.plans.items():
                failed = [self.reasons[s.folder_name] for s in plan if s.folder_name in self.reasons]
                self.fail(cell, "; ".join(failed))

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self.setting.say(f"  {stage.name}: {seconds:.0f} s")
        self._store_finished()

    def failed(self, stage: Stage, reason: str) -> None:
        self.reasons[stage.folder_name] = f"stage {stage.name}: {reason}"

    def _store_finished(self) -> None:
        for cell, plan in list(self.plans.items()):
            if all(stage.is_done(self.root) for stage in plan):
                del self.plans[cell]
                result = ExperimentResult.of(plan, self.root)
                self.store(cell, result, result.seconds)


def _plan(setting: Setting, name: str, experiment: JsonObject) -> Plan:
    return make_plan(parse_experiment({"title": name, "seed": setting.seed, **experiment}, name, Path.cwd()))


def run_experiment(setting: Setting, name: str, experiment: JsonObject, root: Path) -> Plan:
    """Run one experiment in a separate folder, for cells that need its outputs before they can continue."""
    plan = _plan(setting, name, experiment)
    execute(plan, root, MachineLimits(min(2, setting.threads), setting.threads))
    return plan


def tuned_weights(plan: Plan, root: Path, system: str) -> dict[str, list[float]]:
    """The weights of a system from the tuning run with the best score on the development text."""
    runs = plan.experiment.options(Translation).runs
    files = [plan.stages[tune_name(system, run)].folder(root) / "weights.json" for run in runs]
    best = max((read_json(file) for file in files), key=lambda tuned: float(tuned["score"]))
    return {name: list(values) for name, values in best["weights"].items()}


def search_options(setting: Setting, *, pop_limit: int, stack: int) -> dict[str, JsonObject]:
    """`[translation]`'s tables on search and tuning; a smaller search also has smaller stacks."""
    if setting.quick:
        return {"tuning": {"iterations": 2}, "decoding": {"pop-limit": 20, "stack": 20}}
    pops = min(setting.pop_limit or pop_limit, pop_limit)
    return {"decoding": {"pop-limit": pops, "stack": min(stack, max(pops // 2, 1))}}


def score_rows(
    result: ExperimentResult, systems: Mapping[str, str], baseline: str, metrics: Iterable[str]
) -> list[list[TableCell]]:
    """A row of scores for each system (name → title) that was run."""
    scores = {title: [result.marked_score(name, baseline, metric) for metric in metrics] for name, title in systems.items()}
    return [[title, *row] for title, row in scores.items() if any(score is not None for score in row)]


def translation_table(
    name: str,
    caption: str,
    results: Mapping[str, ExperimentResult],
    systems: Mapping[str, str],
    baseline: str,
    metrics: Sequence[str],
) -> Table:
    """Scores of systems (name → title) in experiments (title → result), a group for each; * if p < 0.05 against the
    baseline."""
    groups = [(title, score_rows(result, systems, baseline, metrics)) for title, result in results.items()]
    note = f"*: p < 0.05 against {systems.get(baseline, baseline)}, paired bootstrap; ± is the deviation over tuning runs."
    return table(name, caption, ["", *metrics], groups, note)
