"""The phrase table, and tables of hierarchical rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Text
from hyperbaton.corpus.files import read_sentences
from hyperbaton.phrases import ExtractedPhrases, Extraction, RuleLimits, Scoring, extract_rules
from hyperbaton.phrases.extraction import extract_phrases
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import SPLITS, Work
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation


@dataclass
class Options(Scoring, Extraction):
    """The options of the phrase table."""


AFTER = ("evaluate",)
TABLES, ALWAYS = {"extract": Options}, True
DISTRIBUTED = "phrases"  # the workers of an executor extract and score; the parts are joined here
RATES = {"": Rate(0.4, 0.08, 60, 8), "rules": Rate(0.4, 0.8, 100, 30)}


def plan(plan: Plan) -> None:
    """Plan the rules of hierarchical systems, the phrase table of others, and those of systems with other text."""
    translation = plan.experiment.options(Translation)
    for name in dict.fromkeys(filter(None, map(translation.rules_of, translation.systems))):
        rules, limits = translation.models.rules[name], [translation.tune_limit, *translation.limits]
        span = {"span": 0 if min(limits) < 1 else max(limits)} if rules.for_texts else {}
        inputs = plan.text(*(SPLITS if rules.for_texts else ["train"]), links=True)
        limited = {"rules": to_mapping(rules.limits), **span}
        plan.add(f"extract.{name}", "extract", limited, inputs, "rules", keeps_to_memory=True)
    if not translation.systems:
        return
    options = {"phrases": to_mapping(plan.experiment.options(Options))}
    plan.add("extract", "extract", options, plan.text("train", links=True), keeps_to_memory=True)
    for system, other in plan.other_texts.items():
        plan.add(f"extract.{other.name}", "extract", options, plan.text_of(system, "train"), keeps_to_memory=True)


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
        ).save(work.out / "rules")
        return
    options = from_mapping(Options, work.options["phrases"])
    extracting = partial(extract_phrases, bitext, options, options, resources=resources)
    ExtractedPhrases.write(work.out / "phrases", extracting, bitext, options, options)
