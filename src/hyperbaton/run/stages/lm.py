"""The language model of the target side of the training text."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping
from hyperbaton.corpus import Text
from hyperbaton.lm import Estimation, LanguageModel
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts


def run(work: Work) -> None:
    text = Text.read(Texts(work.inputs).path("train", "target"))
    estimation = from_mapping(Estimation, work.options["estimation"])
    LanguageModel.estimate(text, **vars(estimation), threads=work.threads).save(work.out / "lm")
