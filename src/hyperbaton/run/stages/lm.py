"""The language model of the target side of the training text."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Text
from hyperbaton.lm import Estimation, LanguageModel
from hyperbaton.lm.estimation import estimate_ngrams
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation

AFTER = ("extract",)
TABLES, ALWAYS = {"lm": Estimation}, True
RATES = {"": Rate(0.3, 0.04, 60, 2)}


def plan(plan: Plan) -> None:
    if plan.experiment.options(Translation).systems:
        options = {"estimation": to_mapping(plan.experiment.options(Estimation))}
        plan.add("lm", "lm", options, plan.text("train"), keeps_to_memory=True)


def run(work: Work) -> None:
    resources, estimation = work.resources(), from_mapping(Estimation, work.options["estimation"])
    text = Text.read(Texts(work.inputs).path("train", "target"), scratch=resources.scratch)
    ngrams = estimate_ngrams(text, estimation, resources)
    LanguageModel.of(ngrams, estimation, work.threads).save(work.out / "lm")
