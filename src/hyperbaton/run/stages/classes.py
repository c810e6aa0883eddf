"""Classes of the words of one side of the training text."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import Clustering, word_classes
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts


def run(work: Work) -> None:
    text = Text.read(Texts(work.inputs).path("train", work.options["side"]))
    how = from_mapping(Clustering, work.options["clustering"])
    found = word_classes(
        text, how.classes, runs=how.runs, sweeps=how.sweeps, seed=work.options["seed"], threads=work.threads
    )
    found.write(work.out / "classes")
