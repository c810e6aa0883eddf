"""Tune the weights of a system on the dev split; every iteration is stored, so that tuning resumes where it stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import Arguments, from_mapping, to_mapping
from hyperbaton.decode import System
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation, tune_name
from hyperbaton.tune import Tuning, tune
from hyperbaton.tune.system import SystemDecoder

AFTER = ("system",)
SHARDED = True  # the optimizer runs here, and the workers of an executor translate
RATES = {"": Rate(3, 12, 130, 12, "dev"), "block_me": Rate(3, 20, 130, 15, "dev")}


def plan(plan: Plan) -> None:
    """Plan the tuning runs of every system."""
    how = plan.experiment.options(Translation)
    for system in how.systems:
        tuning = how.tuning_of.get(system, how.tuning)
        inputs = plan.text_of(system, "dev") | {"system": plan.stages[f"system.{system}"]}
        slowest, turns = how.slowest(system, RATES, plan.size), tuning.iterations + 1
        for run in how.runs:
            options = {
                "tuning": to_mapping(tuning),
                "n_best": how.counts.n_best,
                "limit": plan.limit_of(system, how.tune_limit),
                "fix": how.fix.get(system, {}),
                "columns": how.columns(system),
                "seed": plan.experiment.seed + run,
            }
            plan.add(tune_name(system, run), "tune", options, inputs, slowest, turns)


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    system = System.load(work.inputs["system"] / "system")
    lines, how = texts.lines("dev", "source"), _decoder_arguments(work, texts, system)
    decoder = SystemDecoder(system, lines, threads=work.threads, sharding=work.resources().sharding, **how)
    tuned = tune(
        decoder,
        decoder.start,
        [texts.lines("dev", "target")],
        from_mapping(Tuning, options["tuning"]),
        fixed=decoder.fixed,
        seed=options["seed"],
        threads=work.threads,
        folder=work.scratch / "tuning",
    )
    best = decoder.with_weights(tuned.weights)
    best.save(work.out / "system")  # ready to translate: it refers to its parts
    work.write_json(
        "weights.json",
        {
            "weights": {name: list(values) for name, values in best.weights.items()},
            "score": tuned.score,
            "stopped": tuned.stopped,
            "failure": tuned.failure,
            "taken": tuned.taken,
            "history": [
                {"iteration": i, "objective": turn.score, "held_out": None}
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
        "tuning": {system: own["history"] for system, own in tuned.items()},
        "tuned": {system: _outcome(own) for system, own in tuned.items()},
    }


def _outcome(tuned: JsonObject) -> JsonObject:
    """The score of a tuning run, the chosen iteration, and why it stopped."""
    return {
        "iteration": tuned["taken"],
        "averaged": tuned["averaged"] if tuned["taken"] == len(tuned["history"]) else [],
        "score": tuned["score"],
        "stopped": tuned["stopped"],
        "failure": tuned["failure"],
    }


def warnings(plan: Plan, root: Path) -> Iterator[str]:
    """Runs that ended with an error."""
    for stage in plan.of_kind("tune"):
        if reason := read_json(stage.folder(root) / "weights.json")["failure"]:
            yield f"{stage.name} failed: {reason}; the best weights found are used"


def _decoder_arguments(work: Work, texts: Texts, system: System) -> Arguments:
    return {
        "annotations": texts.for_decoder("dev", work.options["columns"]),
        "fix": work.options["fix"],
        "n_best": work.options["n_best"],
        "options": system.limited(work.options["limit"]),
    }
