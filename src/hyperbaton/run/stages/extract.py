"""The phrase table, and the samples that it was counted from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.base.scratch import limited
from hyperbaton.phrases import Extracted, Extraction, Scoring
from hyperbaton.phrases.shards import extract_shards
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("preorder",)
SHARDED = True  # the workers of an executor extract, merge and score; the parts are joined here
RATES = {"": Rate(1, 0.2, 60, 15)}


def plan(plan: Plan) -> None:
    """The phrase table of all systems, and that of those that translate reordered text."""
    experiment = plan.experiment
    if experiment.translation.systems:
        options = {"extraction": to_mapping(experiment.extraction), "scoring": to_mapping(experiment.scoring)}
        plan.add("extract", "extract", options, splits=["train"], keeps_to_memory=True, links=plan.links)
    for system in list(plan.preordered)[:1]:
        plan.add_with("extract.preordered", "extract", options, plan.text_of(system, "train"), keeps_to_memory=True)


def run(work: Work) -> None:
    scratch = limited(work.memory)
    bitext = Texts(work.inputs).bitext("train", scratch=scratch)
    extraction = from_mapping(Extraction, work.options["extraction"])
    scoring = from_mapping(Scoring, work.options["scoring"])
    sharding = work.sharding()
    if sharding is None:
        extracted = Extracted.of(bitext, extraction, scoring, threads=work.threads, scratch=scratch)
    else:
        extracted = extract_shards(bitext, extraction, scoring, sharding=sharding, scratch=scratch)
    extracted.save(work.out / "phrases", bitext, extraction, scoring)
