"""What metrics count in one output: an array of statistics for each metric, a row for each sentence."""

from __future__ import annotations

import numpy as np

from hyperbaton.evaluate.translations import read_outputs
from hyperbaton.metrics import make_metric
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts

VERSION = 1


def run(work: Work) -> None:
    texts, made = Texts(work.inputs), work.inputs["output"]
    reference, links = texts.path("test", "target"), texts.path("test", "links")
    outputs = read_outputs(made / "hypotheses", [reference], made / "links", [links])
    for i, name in enumerate(work.options["metrics"]):
        np.save(work.out / f"{i}.npy", make_metric(name).statistics(outputs), allow_pickle=False)
