"""A translation system: it refers to the phrase table, language model and reordering models of the stages before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.decode import Decoding
from hyperbaton.decode.assemble import assemble
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import File, Stage, Work

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("lm",)
RATES = {"": Rate(1, 0.2, 60, 25)}


def plan(plan: Plan) -> None:
    """Every system, from its parts."""
    models, how = plan.experiment.models, plan.experiment.translation
    for system, members in how.systems.items():
        reordering: dict[str, Any] = {}
        inputs: dict[str, Stage | File] = {"phrases": plan.stages["extract"], "lm": plan.stages["lm"]}
        for name in members:
            model = models[name]
            uses = [name] if model.table else [plan.use_name(model, side) for side in model.sides]
            for use in uses:
                reordering[use] = {"table": model.table, "scaled": model.scaled, "inside": model.inside}
                if model.table is None:
                    inputs[f"model.{use}"] = plan.trained[use]
        options: dict[str, Any] = {"reordering": reordering, "decoding": to_mapping(how.decoding)}
        text = plan.experiment.text
        if text is not None:
            options["text"] = text.as_json()
            if text.changes_case:
                inputs["casing"] = plan.corpus["train"]
        plan.add_with(f"system.{system}", "system", options, inputs)


def run(work: Work) -> None:
    reordering = {
        name: use["table"] or str(work.inputs[f"model.{name}"] / "model")
        for name, use in work.options["reordering"].items()
    }
    system = assemble(
        work.inputs["phrases"] / "phrases",
        [work.inputs["lm"] / "lm"],
        reordering,
        options=from_mapping(Decoding, work.options["decoding"]),
        scaled={name: use["scaled"] for name, use in work.options["reordering"].items() if use["scaled"] is not None},
        inside=[name for name, use in work.options["reordering"].items() if use["inside"]],
    )
    if "casing" in work.inputs:
        system = system.with_text(TextProcessing.load(work.inputs["casing"] / "casing"))
    elif "text" in work.options:
        system = system.with_text(TextProcessing.restore(work.options["text"], {}))
    system.save(work.out / "system")
