"""Source text in the order of its translation, for systems that translate it monotonically.

A jump model of the experiment reorders all splits. Links, tags and targets are included, so that the stage replaces the
corpus and the links for these systems; SPLIT.order contains the old positions of the words.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.options import option, to_mapping
from hyperbaton.corpus import Links, Tags
from hyperbaton.corpus.files import write_pieces
from hyperbaton.decode import PreorderOptions, preorder
from hyperbaton.decode.preordering import unchanged
from hyperbaton.evaluate import order_quality
from hyperbaton.models import MODELS, NextPositionModel, load_model
from hyperbaton.run.cost import Rate
from hyperbaton.run.experiment import Experiment
from hyperbaton.run.models import Models
from hyperbaton.run.plan import OtherText, Plan
from hyperbaton.run.stage import SPLITS, Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation


@dataclass(frozen=True)
class Options:
    """The options of preordering."""

    model: str = option("", "jump model that reorders the source text, one of [models]")
    systems: str = option("preordered", "systems that translate reordered text, separated by spaces")
    limit: int = option(0, "distortion limit of these systems; 0 is from left to right, -1 is no limit", minimum=-1)
    beam: int = option(10, "number of paths kept for each number of visited words", minimum=1, maximum=10_000)


AFTER, BEFORE = ("evaluate",), ("extract",)
TABLES = {"preorder": Options}
RATES = {"": Rate(1, 1, 100, 15)}


def plan(plan: Plan) -> None:
    options = plan.experiment.find(Options)
    if options is None:
        return
    systems = options.systems.split()
    _check(plan.experiment, options.model, systems)
    inputs = plan.text(*SPLITS, links=True) | {"model": plan.provided[f"model.{options.model}"]}
    search = to_mapping(PreorderOptions(beam=options.beam))
    model = plan.experiment.options(Models).reordering[options.model].model
    stage = plan.add("preorder", "preorder", search, inputs, model)
    plan.other_texts |= dict.fromkeys(systems, OtherText("preordered", stage, options.limit))


def _check(experiment: Experiment, name: str, systems: list[str]) -> None:
    models, translation = experiment.options(Models).reordering, experiment.options(Translation)
    jump_models = [n for n, model in models.items() if issubclass(MODELS[model.model], NextPositionModel)]
    if name not in jump_models:
        raise OptionError(
            f"{experiment.file}: key 'preorder.model': must be a jump model of this experiment "
            f"({', '.join(jump_models) or 'there is none'}), not {name!r}"
        )
    for system in systems:
        if system not in translation.systems:
            raise OptionError(f"{experiment.file}: key 'preorder.systems': {system} is not one of translation.systems")
        members = translation.systems[system]
        trained = [n for n in members if n in translation.models.rules or (n in models and not models[n].is_counted)]
        if trained:
            what = f"{trained[0]} is trained on the original order, but the system translates reordered text: leave it out"
            raise OptionError(f"{experiment.file}: key 'translation.systems.{system}': {what}")


def run(work: Work) -> None:
    texts, model = Texts(work.inputs), load_model(work.inputs["model"] / "model")
    model.threads = work.threads
    rows: list[JsonObject] = []
    for split in SPLITS:
        linked = texts.has(split, "links")
        bitext = texts.bitext(split, links=linked)
        annotations = texts.annotations(split, model.needs, bitext)
        orders, _ = preorder(model, bitext.source, annotations, PreorderOptions(**work.options), threads=work.threads)
        write_pieces(work.out / f"{split}.source", orders.reorder(bitext.source).pieces())
        write_pieces(work.out / f"{split}.order", [orders.lines()])
        shutil.copyfile(texts.path(split, "target"), work.out / f"{split}.target")
        if texts.has(split, "tags"):
            tags = Tags.read(texts.path(split, "tags"), bitext.source)
            write_pieces(work.out / f"{split}.tags", orders.reorder_tags(tags).pieces())
        if linked:
            links: Links = bitext.need_links()
            write_pieces(work.out / f"{split}.links", orders.reorder_links(links).pieces())
            for name, each in (("unchanged", unchanged(bitext.source)), ("reordered", orders)):
                rows.append({"split": split, "order": name, **order_quality(each, links, threads=work.threads).row()})
    work.write_json("quality.json", rows)


def results(plan: Plan, root: Path) -> Json:
    """The agreement of the text's order with its links, before and after."""
    stage = plan.stages.get("preorder")
    return stage and read_json(stage.folder(root) / "quality.json")
