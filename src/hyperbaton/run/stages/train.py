"""A reordering model, trained."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping
from hyperbaton.models import MODELS
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts


def run(work: Work) -> None:
    texts = Texts(work.inputs)
    bitext = texts.bitext("train")
    model = from_mapping(MODELS[work.options["model"]], work.options["options"])
    model.seed, model.threads = work.options["seed"], work.threads
    model.fit(bitext, texts.annotations("train", work.options["annotations"], bitext))
    model.save(work.out / "model")
