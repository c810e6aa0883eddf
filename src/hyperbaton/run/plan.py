"""From an experiment to its stages: which there are, what each needs, and what it will cost, roughly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hyperbaton.base.options import to_mapping
from hyperbaton.run.cost import Size, cost_of, size_of
from hyperbaton.run.experiment import SPLITS, Experiment
from hyperbaton.run.models import FROM_CORPUS, NamedModel
from hyperbaton.run.stage import File, Stage
from hyperbaton.run.translation import shown_limit


@dataclass
class Plan:
    """The stages of an experiment, in an order in which each comes after what it needs."""

    experiment: Experiment
    size: Size
    stages: dict[str, Stage] = field(default_factory=dict)

    def add(
        self,
        name: str,
        kind: str,
        options: dict[str, Any],
        sub: str = "",
        times: int = 1,
        **inputs: Stage | File | None,
    ) -> Stage:
        """Add a stage; inputs that are None are left out. For its cost: what it does exactly, and how often."""
        given = {key: value for key, value in inputs.items() if value is not None}
        return self.add_with(name, kind, options, given, sub, times)

    def add_with(
        self, name: str, kind: str, options: dict[str, Any], inputs: dict[str, Stage | File], sub: str = "", times: int = 1
    ) -> Stage:
        """The same, for inputs whose names are no identifiers."""
        self.stages[name] = Stage(name, kind, options, inputs, cost_of(sub or kind, self.size, times))
        return self.stages[name]

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages.values())

    def __len__(self) -> int:
        return len(self.stages)

    def inputs(self) -> dict[str, File]:
        """The files that the experiment reads, by split and column."""
        found = self.experiment.corpus.files
        return {f"{split}.{column}": File(path) for split, files in found.items() for column, path in files.items()}


def train_name(model: NamedModel, side: str) -> str:
    """The stage that trains a model for a side; the usual one, towards the previous phrase, needs no mark."""
    return f"train.{model.name}" + (".after" if side == "after" else "")


def evaluate_name(model: NamedModel, side: str) -> str:
    """The stage that evaluates it."""
    return train_name(model, side).replace("train.", "evaluate.", 1)


def tune_name(system: str, run: int) -> str:
    return f"tune.{system}.{run + 1}"


def translate_name(system: str, run: int, limit: int) -> str:
    return f"translate.{system}.{output_name(run, limit)}"


def output_name(run: int, limit: int) -> str:
    """An output of a system, among its others."""
    return f"{run + 1}.{shown_limit(limit)}"


def make_plan(experiment: Experiment) -> Plan:
    """Lay out the stages of an experiment."""
    plan = Plan(experiment, size_of(experiment))
    corpus = _add_corpus(plan)
    links = None
    if experiment.aligner is not None:
        aligner = experiment.resolved()["align"]
        links = plan.add("align", "align", {"aligner": aligner, "splits": list(SPLITS)}, corpus=corpus)
    longest = experiment.extraction.max_length
    plan.add("movement", "movement", {"splits": list(SPLITS), "max_length": longest}, corpus=corpus, links=links)
    trained = _add_models(plan, corpus, links)
    if experiment.translation.systems:
        _add_translation(plan, corpus, links, trained)
    return plan


def _add_corpus(plan: Plan) -> Stage:
    experiment, corpus = plan.experiment, plan.experiment.corpus
    options: dict[str, Any] = {"clean": to_mapping(corpus.cleaning)}
    if corpus.generating is not None and corpus.language is not None:
        options |= {"generate": to_mapping(corpus.generating) | to_mapping(corpus.language), "seed": experiment.seed}
        return plan.add("corpus", "corpus", options, "generate")
    options |= {
        "splits": {split: to_mapping(corpus.limits[split]) for split in SPLITS},
        "tokenize": {key: value for key, value in to_mapping(corpus.tokenizing).items() if value is not None},
    }
    return plan.add_with("corpus", "corpus", options, dict(plan.inputs()))


def _add_models(plan: Plan, corpus: Stage, links: Stage | None) -> dict[str, Stage]:
    """Training and evaluation; returns the trained models by the names they have in systems."""
    experiment = plan.experiment
    annotations = {a for model in experiment.models.values() for a in model.annotations}
    classes = {}
    for side in ("source", "target"):
        if f"{side}_classes" in annotations:
            options = {"side": side, "clustering": to_mapping(experiment.classes), "seed": experiment.seed}
            classes[f"{side}_classes"] = plan.add(f"classes.{side}", "classes", options, corpus=corpus)
    trained = {}
    # The longest first: what runs beside the others should not be waited for at the end.
    for model in sorted(experiment.models.values(), key=lambda m: -cost_of(f"train {m.model}", plan.size).seconds):
        inputs: dict[str, Stage | File] = {"corpus": corpus}
        inputs |= {a: classes[a] for a in model.annotations if a in classes}
        if links is not None:
            inputs["links"] = links
        for side in model.sides:
            how: dict[str, Any] = {
                "model": model.model,
                "options": model.options | ({"side": side} if side else {}),
                "annotations": list(model.annotations),
                "seed": experiment.seed,
            }
            stage = plan.add_with(train_name(model, side), "train", how, inputs, f"train {model.model}")
            trained[_use_name(model, side)] = stage
            if model.evaluated:
                held_out = to_mapping(experiment.evaluating)
                plan.add(evaluate_name(model, side), "evaluate", held_out, corpus=corpus, links=links, model=stage)
    return trained


def _use_name(model: NamedModel, side: str) -> str:
    return f"{model.name}.after" if side == "after" and len(model.sides) > 1 else model.name


def _add_translation(plan: Plan, corpus: Stage, links: Stage | None, trained: dict[str, Stage]) -> None:
    experiment, how = plan.experiment, plan.experiment.translation
    phrase_options = {"extraction": to_mapping(experiment.extraction), "scoring": to_mapping(experiment.scoring)}
    phrases = plan.add("extract", "extract", phrase_options, corpus=corpus, links=links)
    lm = plan.add("lm", "lm", {"estimation": to_mapping(experiment.lm)}, corpus=corpus)
    measured: dict[str, Stage | File] = {}
    for system, members in how.systems.items():
        assembled = _add_system(plan, system, members, phrases, lm, trained)
        sub = _heaviest(plan, members)
        annotations = {a for name in members for a in experiment.models[name].annotations}
        columns = [column for annotation, column in FROM_CORPUS.items() if annotation in annotations]
        outputs: dict[str, Stage | File] = {"corpus": corpus}
        if links is not None:
            outputs["links"] = links
        for run in range(how.counts.tuning_runs):
            options = {
                "tuning": to_mapping(how.tuning),
                "n_best": how.counts.n_best,
                "limit": how.tune_limit,
                "columns": columns,
                "seed": experiment.seed + run,
            }
            turns = how.tuning.iterations + 1
            tuned = plan.add(tune_name(system, run), "tune", options, f"tune {sub}", turns, corpus=corpus, system=assembled)
            for limit in how.limits:
                outputs[output_name(run, limit)] = plan.add(
                    translate_name(system, run, limit),
                    "translate",
                    {"limit": limit, "columns": columns},
                    f"translate {sub}",
                    corpus=corpus,
                    system=assembled,
                    weights=tuned,
                )
        chosen = {"metrics": list(how.metrics)}
        measured[system] = plan.add_with(f"measure.{system}", "measure", chosen, outputs, times=len(outputs) - 1)
    options = {
        "systems": list(how.systems),
        "limits": list(how.limits),
        "outputs": {str(limit): [output_name(r, limit) for r in range(how.counts.tuning_runs)] for limit in how.limits},
        "metrics": list(how.metrics),
        "baselines": list(how.baselines),
        "samples": how.counts.samples,
        "seed": experiment.seed,
        "shown_limit": shown_limit_of(experiment),
    }
    plan.add_with("score", "score", options, measured)


def shown_limit_of(experiment: Experiment) -> int:
    """The limit at which sentences are shown: that of tuning if the test is translated with it, else the first one."""
    how = experiment.translation
    return how.tune_limit if how.tune_limit in how.limits else how.limits[0]


def _add_system(
    plan: Plan, system: str, members: tuple[str, ...], phrases: Stage, lm: Stage, trained: dict[str, Stage]
) -> Stage:
    models = plan.experiment.models
    reordering: dict[str, Any] = {}
    inputs: dict[str, Stage | File] = {"phrases": phrases, "lm": lm}
    for name in members:
        model = models[name]
        uses = [name] if model.table else [_use_name(model, side) for side in model.sides]
        for use in uses:
            reordering[use] = {"table": model.table, "scaled": model.scaled, "inside": model.inside}
            if model.table is None:
                inputs[f"model.{use}"] = trained[use]
    options = {"reordering": reordering, "decoding": to_mapping(plan.experiment.translation.decoding)}
    return plan.add_with(f"system.{system}", "system", options, inputs)


def _heaviest(plan: Plan, members: tuple[str, ...]) -> str:
    """The model of a system that takes the decoder longest."""
    kinds = [plan.experiment.models[name].model for name in members]
    return max(kinds, key=lambda kind: cost_of(f"translate {kind}", plan.size).seconds, default="linear")
