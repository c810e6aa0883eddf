"""A translation system: it refers to the phrase table, language model and reordering models of earlier stages."""

from __future__ import annotations

from typing import NamedTuple

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.decode import Decoding
from hyperbaton.decode.assemble import assemble
from hyperbaton.run.corpus import RawTextOptions
from hyperbaton.run.cost import Rate
from hyperbaton.run.models import NamedModel
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import CORPUS, Inputs, Work
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Sparse, Translation

AFTER = ("lm",)
TABLES, ALWAYS = {"translation": Translation}, True
# The parts of a system are memory-mapped, and tables are counted in pieces. Words for sparse features are counted in
# memory, and tables of trained models are made there.
RATES = {"": Rate(0.4, 0.02, 55, 0.5), "sparse": Rate(0.4, 0.05, 60, 6), "models": Rate(0.4, 0.1, 60, 13)}


class Member(NamedTuple):
    """A member of a system: its reordering models with their use, their inputs, and the variant of the work."""

    uses: JsonObject
    inputs: Inputs
    kind: str = ""


def plan(plan: Plan) -> None:
    translation, text = plan.experiment.options(Translation), plan.experiment.options(RawTextOptions).processing
    for system, names in translation.systems.items():
        options: JsonObject = {"reordering": {}, "decoding": to_mapping(translation.decoding)}
        inputs: Inputs = {**_table(plan, translation, system), "lm": plan.stages["lm"]}
        models = {model.name: model for model in translation.models_of(system)}
        members = [
            _model(plan, models[name]) if name in models else _sparse(plan, name, translation.sparse[name])
            for name in names
            if name not in translation.models.rules
        ]
        for member in members:
            options["reordering"] |= member.uses
            inputs |= member.inputs
        if text is not None:
            options["text"] = text.as_json()
            if text.changes_case:
                inputs["casing"] = plan.provided[f"{CORPUS}train"]
        largest = max(["", *(m.kind for m in members)], key=lambda kind: RATES[kind].mib_per_thousand)
        plan.add(f"system.{system}", "system", options, inputs, largest)


def _table(plan: Plan, translation: Translation, system: str) -> Inputs:
    """The rules of a system or, if it has none, its phrase table."""
    if rules := translation.rules_of(system):
        return {"rules": plan.stages[f"extract.{rules}"]}
    other = plan.other_texts.get(system)
    return {"phrases": plan.stages["extract" if other is None else f"extract.{other.name}"]}


def _sparse(plan: Plan, name: str, features: Sparse) -> Member:
    classes = plan.inputs("source_classes", "target_classes") if features.classes else {}
    return Member({name: {"sparse": to_mapping(features)}}, classes, "sparse")


def _model(plan: Plan, model: NamedModel) -> Member:
    use: JsonObject = {"table": model.table, "scaled": model.scaled, "inside": model.inside}
    use |= {"per_class": True} if model.per_class else {}
    if model.is_counted:
        return Member({model.name: use}, {})
    trained = [model.use(side) for side in model.sides]
    inputs = plan.inputs(*(f"model.{side_name}" for side_name in trained))
    if model.table:
        inputs |= {} if model.cls.is_table else plan.text("train", links=True)
        return Member({model.name: use | {"models": trained}}, inputs, "models")
    return Member(dict.fromkeys(trained, use), inputs)


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
        texts = Texts(work.inputs)
        averaged = [str(texts.path("train", name)) for name in ("source", "target", "links") if texts.has("train", name)]
        return ":".join([use["table"], ",".join(folders), *([",".join(averaged)] if averaged else [])])
    return use["table"] or str(work.inputs[f"model.{name}"] / "model")
