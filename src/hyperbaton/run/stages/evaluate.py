"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from typing import Any

from hyperbaton.corpus import Tags
from hyperbaton.evaluate import evaluate_blocks, evaluate_jumps, evaluate_model
from hyperbaton.evaluate.explain_blocks import explain_blocks
from hyperbaton.models import NextPositionModel, OrientationModel, load_model
from hyperbaton.models.block_me import BlockMe
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

VERSION = 2
N_SIBLINGS = 20


def run(work: Work) -> None:
    options = work.options
    texts = Texts(work.inputs)
    bitext = texts.bitext(options["split"])
    model = load_model(work.inputs["model"] / "model")
    model.threads = work.threads
    told: dict[str, Any] = {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
    if isinstance(model, OrientationModel):
        found = evaluate_model(model, bitext, max_length=options["max-length"], max_distance=options["max-distance"])
        told |= {"orientations": model.orientations, "side": model.side, **found.as_json()}
    elif isinstance(model, NextPositionModel):
        tags = Tags.read(texts.path(options["split"], "tags"), bitext.source) if model.needs_tags else None
        jumps = evaluate_jumps(model, bitext, tags)
        told |= jumps.as_json()
        told["logprob_by_distance"] = told["mean_logprob_by_distance"]
    elif isinstance(model, BlockMe):
        wanted = [name for name, needs in (("source_tags", model.needs_tags), ("source_trees", model.needs_trees)) if needs]
        given = texts.annotations(options["split"], wanted, bitext)
        told |= evaluate_blocks(model, bitext, given.get("source_tags"), given.get("source_trees")).as_json()
        told |= {"features": model.n_features, "siblings": _siblings(model)}
    work.write_json("evaluation.json", told)


def _siblings(model: BlockMe) -> list[dict[str, Any]]:
    """The most frequent features about parse siblings, with tags if there are such: XI11 Table 5, else Table 1."""
    family = next((f for f in ("sibling-tag", "sibling-word") if f in model.asked_), None)
    if family is None:
        return []
    shown = ("count", "weight", "jump", "target", "source", "node", "coverage", "orientation")
    found = [f.as_json() for f in explain_blocks(model, family=family, top=N_SIBLINGS, sort="count")]
    return [{name: feature["alpha" if name == "weight" else name] for name in shown} for feature in found]
