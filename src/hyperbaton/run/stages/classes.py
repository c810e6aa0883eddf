"""Classes of the words of one side of the training text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import Clustering, cluster_words
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("movement",)
Options, ALWAYS = Clustering, True
SHARDED = True  # the workers of an executor do the runs; the best one is chosen here
RATES = {"": Rate(2, 1, 150, 5)}


def plan(plan: Plan) -> None:
    """Plan the word classes of each side that a model or sparse features need."""
    experiment = plan.experiment
    wanted = {annotation for model in experiment.models.values() for annotation in model.annotations}
    for_sparse = any(features.classes for features in experiment.translation.sparse.values())
    for side in ("source", "target"):
        if for_sparse or f"{side}_classes" in wanted:
            options = {"side": side, "clustering": to_mapping(experiment.own["classes"]), "seed": experiment.seed}
            plan.classes[f"{side}_classes"] = plan.add(f"classes.{side}", "classes", options, splits=["train"])


def run(work: Work) -> None:
    text = Text.read(Texts(work.inputs).path("train", work.options["side"]))
    how = from_mapping(Clustering, work.options["clustering"])
    cluster_words(text, how, work.options["seed"], work.resources()).write(work.out / "classes")
