"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import load_model
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    bitext = texts.bitext(options["split"])
    model = load_model(work.inputs["model"] / "model")
    model.threads = work.threads
    annotations = texts.annotations(options["split"], model.reads, bitext)
    found = evaluate(model, HeldOut(bitext, annotations, options["max-length"], options["max-distance"]))
    costs = {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
    work.write_json("evaluation.json", {**found.told(), **costs})
