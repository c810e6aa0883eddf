"""Classes of the words of one side of the training text."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import Clustering, cluster_words
from hyperbaton.run.cost import Rate
from hyperbaton.run.models import Models
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation

AFTER = ("movement",)
TABLES, ALWAYS = {"classes": Clustering}, True
RATES = {"": Rate(0.4, 0.05, 100, 3)}


def plan(plan: Plan) -> None:
    """Plan the word classes of each side that a model or sparse features need."""
    experiment = plan.experiment
    models, translation = experiment.options(Models), experiment.options(Translation)
    wanted = {annotation for model in models.reordering.values() for annotation in model.annotations}
    for_sparse = any(features.classes for features in translation.sparse.values())
    clustering = to_mapping(experiment.options(Clustering))
    for side in ("source", "target"):
        if for_sparse or f"{side}_classes" in wanted:
            options = {"side": side, "clustering": clustering, "seed": experiment.seed}
            plan.provided[f"{side}_classes"] = plan.add(f"classes.{side}", "classes", options, plan.text("train"))


def run(work: Work) -> None:
    text = Text.read(Texts(work.inputs).path("train", work.options["side"]))
    clustering = from_mapping(Clustering, work.options["clustering"])
    cluster_words(text, clustering, work.options["seed"], work.resources()).write(work.out / "classes")
