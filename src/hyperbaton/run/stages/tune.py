"""Tune the weights of a system on the dev split; every iteration is stored, so that tuning resumes where it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.decode import System
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation, tune_name
from hyperbaton.tune import Length, Tuning
from hyperbaton.tune.runs import DevelopmentText, TuningRuns

AFTER = ("system",)
DISTRIBUTED = "tuning"  # the optimizer runs here, and the workers of an executor translate
RATES = {
    "": Rate(2, 9, 150, 6, "dev"),
    "block_me": Rate(2, 11, 150, 8, "dev"),
    "rules": Rate(2, 30, 200, 18, "dev"),
}


def plan(plan: Plan) -> None:
    """Plan the tuning runs of every system."""
    translation = plan.experiment.options(Translation)
    for system in translation.systems:
        tuning = translation.tuning_of.get(system, translation.tuning)
        inputs = plan.text_of(system, "dev") | {"system": plan.stages[f"system.{system}"]}
        slowest, turns = translation.slowest(system, RATES, plan.size), tuning.iterations + 1
        for run in translation.runs:
            options = {
                "tuning": to_mapping(tuning),
                "n_best": translation.counts.n_best,
                "limit": plan.limit_of(system, translation.tune_limit),
                "fix": translation.fix.get(system, {}),
                "length": to_mapping(translation.length),
                "columns": translation.columns(system),
                "seed": plan.experiment.seed + run,
            }
            plan.add(tune_name(system, run), "tune", options, inputs, slowest, turns)


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    system = System.load(work.inputs["system"] / "system")
    runs = TuningRuns(
        system,
        from_mapping(Tuning, options["tuning"]),
        n_best=options["n_best"],
        decoding=system.limited(options["limit"]),
        fix=options["fix"],
        length=from_mapping(Length, options["length"]),
        seed=options["seed"],
        resources=work.resources(),
        folder=work.scratch,
    )
    annotations = texts.for_decoder("dev", options["columns"])
    text = DevelopmentText(texts.lines("dev", "source"), [texts.lines("dev", "target")], annotations)
    choice = runs.on(text)
    end, best = runs.finish(text, choice)
    tuned = choice.tuned
    best.save(work.out / "system")  # ready to translate: it refers to its parts
    work.write_json(
        "weights.json",
        {
            "weights": {name: list(values) for name, values in best.weights.items()},
            "score": end.score,
            "length": end.length,
            "expected": tuned.turn.expected,
            "stopped": tuned.stopped,
            "failure": tuned.failure,
            "taken": tuned.taken,
            "history": [
                {"iteration": i, "objective": turn.value, "length": turn.length, "held_out": None}
                for i, turn in enumerate(tuned.history)
                if not turn.is_mean
            ],
            "averaged": list(tuned.averaged),
        },
    )


def figures(plan: Plan, root: Path) -> JsonObject:
    """The history and the outcome of the first tuning run of each system."""
    systems = plan.experiment.options(Translation).systems
    if not systems:
        return {}
    tuned = {s: read_json(plan.stages[tune_name(s, 0)].folder(root) / "weights.json") for s in systems}
    return {
        "tuning": {system: outcome["history"] for system, outcome in tuned.items()},
        "tuned": {system: _outcome(outcome) for system, outcome in tuned.items()},
    }


def _outcome(tuned: JsonObject) -> JsonObject:
    """The score of a tuning run, the chosen iteration, and why it stopped."""
    averaged = tuned["averaged"] if tuned["taken"] == len(tuned["history"]) else []
    same = {name: tuned[name] for name in ("score", "length", "stopped", "failure")}
    return {"iteration": tuned["taken"], "averaged": averaged, **same}


def warnings(plan: Plan, root: Path) -> Iterator[str]:
    """Runs that ended with an error."""
    for stage in plan.of_kind("tune"):
        if reason := read_json(stage.folder(root) / "weights.json")["failure"]:
            yield f"{stage.name} failed: {reason}; the best weights found are used"
