"""The phrase table, and the samples that it was counted from."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping
from hyperbaton.phrases import Extracted, Extraction, Scoring
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts


def run(work: Work) -> None:
    bitext = Texts(work.inputs).bitext("train")
    extraction = from_mapping(Extraction, work.options["extraction"])
    scoring = from_mapping(Scoring, work.options["scoring"])
    extracted = Extracted.of(bitext, extraction, scoring, threads=work.threads)
    extracted.save(work.out / "phrases", bitext, extraction, scoring)
