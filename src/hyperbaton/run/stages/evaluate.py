"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from typing import Any

from hyperbaton.corpus import Tags
from hyperbaton.evaluate import evaluate_jumps, evaluate_model
from hyperbaton.models import NextPositionModel, OrientationModel, load_model
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

VERSION = 1


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
        # NI11 Fig. 13 and 15: precision by the size of the source phrase's cluster.
        told["clusters"] = found.precision_by_support
    elif isinstance(model, NextPositionModel):
        tags = Tags.read(texts.path(options["split"], "tags"), bitext.source) if model.needs_tags else None
        jumps = evaluate_jumps(model, bitext, tags)
        told |= jumps.as_json()
        told["logprob_by_distance"] = told["mean_logprob_by_distance"]
    work.write_json("evaluation.json", told)
