"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.options import to_mapping
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import load_model
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("train",)
RATES = {"": Rate(1, 1, 80, 15, "test")}


def plan(plan: Plan) -> None:
    """Plan the evaluation of every trained model."""
    held_out = plan.experiment.evaluating
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
