"""Metric statistics of the outputs of a system, for all limits and runs: an array for each metric and output.

`METRIC.RUN.LIMIT.npy` has a row of statistics for each test sentence; metrics are numbered. Outputs share most of their
translations, so each distinct translation is measured once. `lengths.json` has the length ratio of each output.
"""

from __future__ import annotations

import numpy as np

from hyperbaton.evaluate.translations import read_outputs
from hyperbaton.metrics import Metric, Outputs, Statistics, length_ratio, make_metric
from hyperbaton.run.cost import Rate
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import CORPUS, Work
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import Translation, output_name, translate_name

AFTER = ("translate",)
RATES = {"": Rate(0.5, 2.5, 70, 0, "test")}


def plan(plan: Plan) -> None:
    translation = plan.experiment.options(Translation)
    options = {"metrics": list(translation.metrics)}
    for system in translation.systems:
        inputs = plan.text("test", links=True)
        inputs |= {output_name(*output): plan.stages[translate_name(system, *output)] for output in translation.outputs}
        plan.add(f"measure.{system}", "measure", options, inputs, times=len(translation.outputs))


def run(work: Work) -> None:
    texts = Texts(work.inputs)
    reference, links = texts.path("test", "target"), texts.path("test", "links")
    names = [name for name in work.inputs if name != "links" and not name.startswith(CORPUS)]
    outputs = [read_outputs(work.inputs[n] / "hypotheses", [reference], work.inputs[n] / "links", [links]) for n in names]
    for i, metric in enumerate(make_metric(name) for name in work.options["metrics"]):
        for name, values in zip(names, statistics(metric, outputs), strict=True):
            np.save(work.out / f"{i}.{name}.npy", values, allow_pickle=False)
    work.write_json("lengths.json", {name: length_ratio([output]) for name, output in zip(names, outputs, strict=True)})


def statistics(metric: Metric, outputs: list[Outputs]) -> list[Statistics]:
    """The statistics of several outputs of one test text."""
    if metric.needs_orders:
        return [metric.statistics(output) for output in outputs]
    numbers: dict[tuple[int, str], int] = {}
    places = [
        [numbers.setdefault((line, text), len(numbers)) for line, text in enumerate(output.hypotheses)]
        for output in outputs
    ]
    lines, different = zip(*numbers, strict=True)
    values = metric.statistics(Outputs.of(different, *outputs[0].references, line=np.array(lines)))
    return [values[rows] for rows in places]
