"""A translation system: it refers to the phrase table, language model and reordering models of earlier stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.decode import Decoding
from hyperbaton.decode.assemble import assemble
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import File, Stage, Work

if TYPE_CHECKING:
    from hyperbaton.run.plan import Plan

AFTER = ("lm",)
# The parts of a system are memory-mapped, and tables are counted in pieces. Words for sparse features are counted in
# memory, and tables of trained models are made there.
RATES = {"": Rate(1, 0.2, 80, 0.5), "sparse": Rate(1, 0.2, 80, 6), "models": Rate(1, 0.2, 60, 25)}


def plan(plan: Plan) -> None:
    """Plan every system from its parts."""
    models, how = plan.experiment.models, plan.experiment.translation
    for system, members in how.systems.items():
        reordering: JsonObject = {}
        kinds = {""}
        extracted = plan.stages["extract.preordered" if system in plan.preordered else "extract"]
        rules = how.rules_of(system)
        table = {"phrases": extracted} if rules is None else {"rules": plan.stages[f"extract.{rules}"]}
        inputs: dict[str, Stage | File] = {**table, "lm": plan.stages["lm"]}
        for name in members:
            if name == rules:
                continue
            if name in how.sparse:
                reordering[name] = {"sparse": to_mapping(how.sparse[name])}
                kinds.add("sparse")
                if how.sparse[name].classes:
                    inputs |= plan.classes
                continue
            model = models[name]
            trained = [plan.use_name(model, side) for side in model.sides]
            for use in [name] if model.table else trained:
                reordering[use] = {"table": model.table, "scaled": model.scaled, "inside": model.inside}
                if model.per_class:
                    reordering[use]["per_class"] = True
            if model.is_counted:
                continue
            if model.table:
                reordering[name]["models"] = trained
                kinds.add("models")
            inputs |= {f"model.{use}": plan.trained[use] for use in trained}
        options: JsonObject = {"reordering": reordering, "decoding": to_mapping(how.decoding)}
        text = plan.experiment.text
        if text is not None:
            options["text"] = text.as_json()
            if text.changes_case:
                inputs["casing"] = plan.corpus["train"]
        largest = max(kinds, key=lambda kind: RATES[kind].mib_per_thousand)
        plan.add_with(f"system.{system}", "system", options, inputs, largest)


def run(work: Work) -> None:
    uses = work.options["reordering"]
    system = assemble(
        work.inputs["phrases"] / "phrases" if "phrases" in work.inputs else None,
        [work.inputs["lm"] / "lm"],
        {name: _written(work, name, use) for name, use in uses.items()},
        options=from_mapping(Decoding, work.options["decoding"]),
        scaled={name: use["scaled"] for name, use in uses.items() if use.get("scaled") is not None},
        inside=[name for name, use in uses.items() if use.get("inside")],
        per_class=[name for name, use in uses.items() if use.get("per_class")],
        rules=work.inputs["rules"] / "rules" if "rules" in work.inputs else None,
    )
    if "casing" in work.inputs:
        system = system.with_text(TextProcessing.load(work.inputs["casing"] / "casing"))
    elif "text" in work.options:
        system = system.with_text(TextProcessing.restore(work.options["text"], {}))
    system.save(work.out / "system")


def _written(work: Work, name: str, use: JsonObject) -> str:
    """A reordering model in the form read by `assemble`."""
    if "sparse" in use:
        features = use["sparse"]
        parts = ["sparse", features["orientations"], f"words={features['words']}"]
        if features["classes"]:
            parts += [f"{side}-classes={work.inputs[f'{side}_classes'] / 'classes'}" for side in ("source", "target")]
        return ":".join(parts)
    folders = [str(work.inputs[f"model.{trained}"] / "model") for trained in use.get("models", [])]
    if folders:
        return f"{use['table']}:{','.join(folders)}"
    return use["table"] or str(work.inputs[f"model.{name}"] / "model")
