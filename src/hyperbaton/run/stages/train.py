"""Train a reordering model."""

from __future__ import annotations

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import Arguments, from_mapping
from hyperbaton.models import MODELS
from hyperbaton.run.cost import Rate, cost_of
from hyperbaton.run.models import Models
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

AFTER = ("classes",)
TABLES, ALWAYS = {"models": Models}, True
# By model; other models cost as much as the first one.
RATES = {
    "": Rate(0.4, 0.08, 55, 4),
    "dpr": Rate(0.5, 0.8, 70, 15),
    "block_me": Rate(0.5, 2, 60, 4),
    "nine_class": Rate(0.4, 0.5, 60, 5),
    "pair": Rate(0.5, 1.6, 80, 27),
    "sequence": Rate(0.5, 2.2, 80, 30),
}


def plan(plan: Plan) -> None:
    """Plan every model, once for each side, the longest first, so that none is left to wait for at the end."""
    models = plan.experiment.options(Models).reordering.values()
    for model in sorted(models, key=lambda model: -cost_of(RATES, model.model, plan.size).seconds):
        inputs = plan.text("train", links=True) | plan.inputs(*model.annotations)
        for side in model.sides:
            options: JsonObject = {
                "model": model.model,
                "options": model.options | ({"side": side} if side else {}),
                "annotations": list(model.annotations),
                "seed": plan.experiment.seed,
            }
            name, keeps = model.stage("train", side), model.cls.takes_scratch
            stage = plan.add(name, "train", options, inputs, model.model, keeps_to_memory=keeps)
            plan.provided[f"model.{model.use(side)}"] = stage


def plugin(options: JsonObject) -> type:
    return MODELS[options["model"]]


def run(work: Work) -> None:
    texts = Texts(work.inputs)
    model = from_mapping(MODELS[work.options["model"]], work.options["options"])
    model.seed, model.threads, model.checkpoint = work.options["seed"], work.threads, work.scratch / "model.training"
    arguments: Arguments = {"scratch": work.resources().scratch} if model.takes_scratch else {}
    bitext = texts.bitext("train", **arguments)
    model.fit(bitext, texts.annotations("train", work.options["annotations"], bitext), **arguments)
    model.save(work.out / "model")
