"""Source text in the order of its translation, for systems that translate it monotonically.

A jump model of the experiment reorders all splits. Links, tags and targets are included, so that the stage replaces the
corpus and the links for these systems; SPLIT.order contains the old positions of the words.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
from hyperbaton.run.stage import SPLITS, File, Stage, Work, read_json
from hyperbaton.run.texts import Texts

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("evaluate",)
RATES = {"": Rate(2, 2, 100, 30)}


@dataclass(frozen=True)
class Options:
    """The options of preordering."""

    model: str = option("", "jump model that reorders the source text, one of [models]")
    systems: str = option("preordered", "systems that translate reordered text, separated by spaces")
    limit: int = option(0, "distortion limit of these systems; 0 is from left to right, -1 is no limit", minimum=-1)
    beam: int = option(10, "number of paths kept for each number of visited words", minimum=1, maximum=10_000)


def plan(plan: Plan) -> None:
    """Plan the reordered text, if the experiment uses any."""
    options, experiment = plan.experiment.own.get("preorder"), plan.experiment
    if options is None:
        return
    systems = options.systems.split()
    _check(plan, options.model, systems)
    inputs: dict[str, Stage | File] = {**plan.text(*SPLITS), "model": plan.trained[options.model]}
    if plan.links is not None:
        inputs["links"] = plan.links
    how = to_mapping(PreorderOptions(beam=options.beam))
    stage = plan.add_with("preorder", "preorder", how, inputs, experiment.models[options.model].model)
    plan.preordered = dict.fromkeys(systems, stage)
    plan.preordered_limit = options.limit


def _check(plan: Plan, name: str, systems: list[str]) -> None:
    experiment = plan.experiment
    known = [n for n, model in experiment.models.items() if issubclass(MODELS[model.model], NextPositionModel)]
    if name not in known:
        raise OptionError(
            f"{experiment.file}: key 'preorder.model': must be a jump model of this experiment "
            f"({', '.join(known) or 'there is none'}), not {name!r}"
        )
    for system in systems:
        members = experiment.translation.systems.get(system)
        if members is None:
            raise OptionError(f"{experiment.file}: key 'preorder.systems': {system} is not one of translation.systems")
        models = [experiment.models[member] for member in members if member not in experiment.translation.sparse]
        trained = [model.name for model in models if not model.is_counted]
        if trained:
            raise OptionError(
                f"{experiment.file}: key 'translation.systems.{system}': {trained[0]} is trained on the original order, "
                "but the system translates reordered text: leave it out"
            )


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
