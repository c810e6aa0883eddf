"""Batch MIRA on k-best lists (Cherry and Foster 2012).

Passes over the sentences pull the model towards the hope, a candidate with a high model score and a high metric, and away
from the fear, one with a high model score and a low metric. Of the averaged weights after each pass, those with the best
metric on the lists are taken. The gain of a candidate is its metric in company of average sentences, fixed for all passes;
features are scaled to the same spread, so that the step limit means the same for each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.options import option
from hyperbaton.tune.nbest import Floats
from hyperbaton.tune.optimizers._optimizer import Job, Optimizer


@dataclass
class Mira(Optimizer):
    """Batch MIRA: margins as large as differences in the metric; for many features."""

    passes: int = option(60, "passes over the sentences", minimum=1)
    max_step: float = option(0.01, "largest step for one sentence (C)", minimum=1e-9)

    def optimize(self, job: Job) -> Floats:
        lists, spread = job.reduced, job.reduced.spread
        gains = job.lists.gains(job.metric, job.start) / 100
        scaled = np.divide(lists.features, spread, out=np.zeros_like(lists.features), where=spread > 0)
        start = job.reduced_start * spread
        # The scale of weights means nothing to the decoder, but much to a margin: let scores and gains differ alike.
        size = np.std(numeric.product(scaled, start))
        start *= np.std(gains) / size if size > 0 else 0.0
        averages = _core.mira(
            lists=_core.NBestLists(features=scaled, statistics=lists.statistics, offsets=lists.offsets),
            gains=gains,
            start=start,
            n_passes=self.passes,
            max_step=self.max_step,
            seed=job.seed,
            progress=job.progress,
        )
        unscaled = np.divide(averages, spread, out=np.zeros_like(averages), where=spread > 0)
        ends = [job.restored(weights) for weights in unscaled]
        values = [job.lists.value(job.metric, weights) for weights in ends]
        return ends[int(np.argmax(values) if job.metric.higher_is_better else np.argmin(values))]
