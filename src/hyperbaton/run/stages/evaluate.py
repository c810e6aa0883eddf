"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import option, to_mapping
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import load_model
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("train",)
ALWAYS = True
RATES = {"": Rate(1, 1, 80, 15, "test")}


@dataclass(frozen=True)
class Options:
    """The held-out movements to predict."""

    split: str = option("test", "part of the corpus", choices=("dev", "test"))
    max_length: int = option(8, "longest phrase, in words, on either side", minimum=1, maximum=255)
    max_distance: int = option(15, "skip phrase pairs that move farther; 0 keeps all", minimum=0)


def plan(plan: Plan) -> None:
    """Plan the evaluation of every trained model."""
    held_out = plan.experiment.own["evaluate"]
    for model in plan.experiment.models.values():
        for side in model.sides:
            name, trained = plan.evaluate_name(model, side), plan.stages[plan.train_name(model, side)]
            plan.add(name, "evaluate", to_mapping(held_out), splits=[held_out.split], links=plan.links, model=trained)


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    bitext = texts.bitext(options["split"])
    model = load_model(work.inputs["model"] / "model")
    model.threads = work.threads
    annotations = texts.annotations(options["split"], model.reads, bitext)
    evaluation = evaluate(model, HeldOut(bitext, annotations, options["max-length"], options["max-distance"]))
    costs = {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
    work.write_json("evaluation.json", {**evaluation.record(), **costs})


def figures(plan: Plan, root: Path) -> JsonObject:
    """The evaluations of all models, by shape."""
    found: JsonObject = {}
    for model in plan.experiment.models.values():
        for side in model.sides:
            stage = plan.stages[plan.evaluate_name(model, side)]
            evaluation = read_json(stage.folder(root) / "evaluation.json")
            name = f"{model.name} (after)" if side == "after" and len(model.sides) > 1 else model.name
            path = str(plan.stages[plan.train_name(model, side)].folder(root))
            row = {"model": name, "kind": model.model, "is_distance": model.cls.is_distance, "path": path, **evaluation}
            found.setdefault(evaluation["shape"], []).append(row)
    return found
