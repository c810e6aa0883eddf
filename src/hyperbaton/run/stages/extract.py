"""The phrase table, and tables of hierarchical rules."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Text
from hyperbaton.corpus.files import read_sentences
from hyperbaton.phrases import ExtractedPhrases, Extraction, RuleLimits, Scoring, extract_rules
from hyperbaton.phrases.shards import extract_phrases
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("preorder",)
SHARDED = True  # the workers of an executor extract, merge and score; the parts are joined here
RATES = {"": Rate(1, 0.2, 60, 15), "rules": Rate(1, 2, 200, 60)}


def plan(plan: Plan) -> None:
    """Plan the rules of hierarchical systems, the phrase table of others, and that of systems with reordered text."""
    experiment, how = plan.experiment, plan.experiment.translation
    for name in dict.fromkeys(filter(None, map(how.rules_of, how.systems))):
        splits = ["train", "dev", "test"] if how.rules[name].for_texts else ["train"]
        limits = [how.tune_limit, *how.limits]
        span = {"span": 0 if min(limits) < 1 else max(limits)} if how.rules[name].for_texts else {}
        rules = {"rules": to_mapping(how.rules[name].limits), **span}
        plan.add(f"extract.{name}", "extract", rules, "rules", splits=splits, keeps_to_memory=True, links=plan.links)
    if experiment.translation.systems:
        options = {"extraction": to_mapping(experiment.extraction), "scoring": to_mapping(experiment.scoring)}
        plan.add("extract", "extract", options, splits=["train"], keeps_to_memory=True, links=plan.links)
    for system in list(plan.preordered)[:1]:
        plan.add_with("extract.preordered", "extract", options, plan.text_of(system, "train"), keeps_to_memory=True)


def run(work: Work) -> None:
    resources, texts = work.resources(), Texts(work.inputs)
    bitext = texts.bitext("train", scratch=resources.scratch)
    if "rules" in work.options:
        limits = from_mapping(RuleLimits, work.options["rules"])
        held_out = [texts.path(split, "source") for split in ("dev", "test") if texts.has(split, "source")]
        lines = [line for path in held_out for line in read_sentences(str(path))]
        text, span = Text.of(lines) if held_out else None, work.options.get("span", 0)
        extract_rules(
            bitext,
            limits,
            text=text,
            text_span=span,
            threads=work.threads,
            scratch=resources.scratch,
            sharding=resources.sharding,
        ).save(work.out / "rules")
        return
    extraction = from_mapping(Extraction, work.options["extraction"])
    scoring = from_mapping(Scoring, work.options["scoring"])
    found = partial(extract_phrases, bitext, resources, extraction, scoring)
    ExtractedPhrases.write(work.out / "phrases", found, bitext, extraction, scoring)
