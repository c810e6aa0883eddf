"""From an experiment to its stages: which there are, what each needs, and what it will cost, roughly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperbaton.base.options import to_mapping
from hyperbaton.run.cost import Size, cost_of, size_of
from hyperbaton.run.experiment import SPLITS, Experiment
from hyperbaton.run.models import FROM_CORPUS, NamedModel
from hyperbaton.run.stage import CORPUS, File, Stage
from hyperbaton.run.translation import shown_limit


@dataclass
class Plan:
    """The stages of an experiment, in an order in which each comes after what it needs."""

    experiment: Experiment
    size: Size
    stages: dict[str, Stage] = field(default_factory=dict)
    corpus: dict[str, Stage] = field(default_factory=dict)  # the stage that leaves each split

    def text(self, *splits: str) -> dict[str, Stage]:
        """Splits as inputs of a stage."""
        return {f"{CORPUS}{split}": self.corpus[split] for split in splits}

    def add(
        self,
        name: str,
        kind: str,
        options: dict[str, Any],
        sub: str = "",
        times: int = 1,
        *,
        splits: Sequence[str] = (),
        **inputs: Stage | File | None,
    ) -> Stage:
        """Add a stage that reads splits of the corpus, and more; inputs that are None are left out.

        For its cost: what it does exactly, and how often.
        """
        given = {key: value for key, value in inputs.items() if value is not None} | self.text(*splits)
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

    def inputs(self, *splits: str) -> dict[str, File]:
        """The files that the experiment reads for these splits, or all, by split and column."""
        found = self.experiment.corpus.files
        wanted = [split for split in found if split in (splits or SPLITS)]
        return {f"{split}.{column}": File(path) for split in wanted for column, path in found[split].items()}


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
    _add_corpus(plan)
    links = None
    if experiment.aligner is not None:
        aligner = experiment.resolved()["align"]
        links = plan.add("align", "align", {"aligner": aligner, "splits": list(SPLITS)}, splits=SPLITS)
    longest = experiment.extraction.max_length
    plan.add("movement", "movement", {"splits": list(SPLITS), "max_length": longest}, links=links, splits=SPLITS)
    trained = _add_models(plan, links)
    if experiment.translation.systems:
        _add_translation(plan, links, trained)
    return plan


def _add_corpus(plan: Plan) -> None:
    """Each split is a stage of its own, so that another development text trains nothing anew; generated text is one."""
    experiment, corpus = plan.experiment, plan.experiment.corpus
    options: dict[str, Any] = {"clean": to_mapping(corpus.cleaning)}
    if corpus.generating is not None and corpus.language is not None:
        options |= {"generate": to_mapping(corpus.generating) | to_mapping(corpus.language), "seed": experiment.seed}
        generated = plan.add("corpus", "corpus", options, "generate")
        plan.corpus = dict.fromkeys(SPLITS, generated)
        return
    options["tokenize"] = {key: value for key, value in to_mapping(corpus.tokenizing).items() if value is not None}
    for split in SPLITS:
        own = options | {"splits": {split: to_mapping(corpus.limits[split])}}
        plan.corpus[split] = plan.add_with(f"{CORPUS}{split}", "corpus", own, dict(plan.inputs(split)))


def _add_models(plan: Plan, links: Stage | None) -> dict[str, Stage]:
    """Training and evaluation; returns the trained models by the names they have in systems."""
    experiment = plan.experiment
    annotations = {a for model in experiment.models.values() for a in model.annotations}
    classes = {}
    for side in ("source", "target"):
        if f"{side}_classes" in annotations:
            options = {"side": side, "clustering": to_mapping(experiment.classes), "seed": experiment.seed}
            classes[f"{side}_classes"] = plan.add(f"classes.{side}", "classes", options, splits=["train"])
    trained = {}
    # The longest first: what runs beside the others should not be waited for at the end.
    for model in sorted(experiment.models.values(), key=lambda m: -cost_of(f"train {m.model}", plan.size).seconds):
        inputs: dict[str, Stage | File] = {**plan.text("train")}
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
            held_out = to_mapping(experiment.evaluating)
            splits = [experiment.evaluating.split]
            plan.add(evaluate_name(model, side), "evaluate", held_out, splits=splits, links=links, model=stage)
    return trained


def _use_name(model: NamedModel, side: str) -> str:
    return f"{model.name}.after" if side == "after" and len(model.sides) > 1 else model.name


def _add_translation(plan: Plan, links: Stage | None, trained: dict[str, Stage]) -> None:
    experiment, how = plan.experiment, plan.experiment.translation
    phrase_options = {"extraction": to_mapping(experiment.extraction), "scoring": to_mapping(experiment.scoring)}
    phrases = plan.add("extract", "extract", phrase_options, splits=["train"], links=links)
    lm = plan.add("lm", "lm", {"estimation": to_mapping(experiment.lm)}, splits=["train"])
    measured: dict[str, Stage | File] = {}
    for system, members in how.systems.items():
        assembled = _add_system(plan, system, members, phrases, lm, trained)
        sub = _heaviest(plan, members)
        annotations = {a for name in members for a in experiment.models[name].annotations}
        columns = [column for annotation, column in FROM_CORPUS.items() if annotation in annotations]
        outputs: dict[str, Stage | File] = {**plan.text("test")}
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
            name = tune_name(system, run)
            tuned = plan.add(name, "tune", options, f"tune {sub}", turns, splits=["dev"], system=assembled)
            for limit in how.limits:
                outputs[output_name(run, limit)] = plan.add(
                    translate_name(system, run, limit),
                    "translate",
                    {"limit": limit, "columns": columns},
                    f"translate {sub}",
                    splits=["test"],
                    system=assembled,
                    weights=tuned,
                )
        chosen = {"metrics": list(how.metrics)}
        n_outputs = how.counts.tuning_runs * len(how.limits)
        measured[system] = plan.add_with(f"measure.{system}", "measure", chosen, outputs, times=n_outputs)
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
