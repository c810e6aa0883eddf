"""Minimum error rate training (Och 2003).

Directly maximises the metric of the best candidates, by exact line searches along the axes and along random directions,
from the current weights, the best ones so far and random starting points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.tune.nbest import Floats
from hyperbaton.tune.optimizers._optimizer import Optimizer, OptimizerJob


@dataclass
class Mert(Optimizer):
    """Minimum error rate training: exact line searches on the metric itself."""

    restarts: int = option(20, "number of random starting points", minimum=0)
    directions: int = option(5, "number of random directions per pass, in addition to the axes", minimum=0)
    max_passes: int = option(50, "maximum number of passes over the directions", minimum=1)
    nearly: float = option(0.2, "average all results this close to the best, in points of the metric", minimum=0)
    tolerance: float = option(0.01, "smallest improvement of a step that counts, in points of the metric", minimum=0)

    def optimize(self, job: OptimizerJob) -> Floats:
        lists = job.lists
        if lists.sparse is not None:
            raise OptionError("mert cannot tune sparse features because there are too many: choose --optimizer mira or pro")
        axes = np.flatnonzero(job.free).astype(np.uint32)
        # A weight of 1/spread gives each feature the same influence.
        scales = np.divide(1.0, lists.spread, out=np.zeros_like(lists.spread), where=job.free)
        weights, scores = _core.mert(
            lists=_core.NBestLists(features=lists.features, statistics=lists.statistics, offsets=lists.offsets),
            objective=job.metric.objective(),
            starts=self._starts(job, scales),
            axes=axes,
            scales=scales,
            constant=job.constant,
            options=_core.MertOptions(
                n_directions=self.directions,
                max_passes=self.max_passes,
                tolerance=self.tolerance,
                seed=job.seed,
                n_threads=job.threads,
            ),
            progress=job.progress,
        )
        return self._middle(job, weights, scores)

    def _middle(self, job: OptimizerJob, weights: Floats, scores: Floats) -> Floats:
        """The mean of the results that are nearly as good as the best, if it is as good as they are; otherwise the best.

        Searches end at the edges of the region supported by the lists; other lists have other edges, but a similar
        middle.
        """
        best, enough = int(np.argmax(scores)), scores.max() - self.nearly
        if not job.has_scale:
            free = job.free
            sizes = np.abs(weights[:, free]).sum(axis=1, keepdims=True)
            weights = weights.copy()
            weights[:, free] *= np.divide(sizes[best], sizes, out=np.ones_like(sizes), where=sizes > 0)
        mean: Floats = weights[scores >= enough].mean(axis=0)
        value = job.lists.value(job.metric, mean)
        return mean if (value if job.metric.higher_is_better else -value) >= enough else weights[best]

    def _starts(self, job: OptimizerJob, scales: Floats) -> Floats:
        """The given starts, then random ones: every other one near the current weights, the rest anywhere."""
        rng = np.random.default_rng(job.seed)
        noise = numeric.normal(rng, (self.restarts, len(scales))) * scales
        says = np.abs(job.start[scales > 0]) / scales[scales > 0]
        noise *= says.mean() if len(says) and says.any() else 1.0
        random = np.where(np.arange(self.restarts)[:, None] % 2 == 0, job.start + noise, noise)
        random[:, scales == 0] = job.start[scales == 0]
        return np.ascontiguousarray(np.concatenate([np.stack(job.starts), random]))
