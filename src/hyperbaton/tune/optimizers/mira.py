"""Batch MIRA on k-best lists (Cherry and Foster 2012).

Passes over the sentences pull the model towards the hope, a candidate with a high model score and a high metric, and away
from the fear, one with a high model score and a low metric. Of the averaged weights after each pass, those with the best
metric on the lists are chosen. The gain of a candidate is its metric together with average sentences, fixed for all
passes; features are scaled to the same spread, so that the step limit means the same for each. Sparse features are not
scaled, so that rare ones stay rare, and one that differs in few lists keeps the weight 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.tune.nbest import COMPANY, Floats
from hyperbaton.tune.optimizers._optimizer import Optimizer, OptimizerJob


@dataclass
class Mira(Optimizer):
    """Batch MIRA: margins as large as differences in the metric; for many features."""

    passes: int = option(60, "number of passes over the sentences", minimum=1)
    max_step: float = option(0.01, "largest step per sentence (C)", minimum=1e-9)
    orders: int = option(1, "number of random orders of the sentences; their weights are averaged", minimum=1)
    company: int = option(COMPANY, "number of average sentences together with which a candidate is scored", minimum=0)
    min_lists: int = option(
        5, "sparse features: number of n-best lists in which a feature must vary to get a weight", minimum=1
    )

    def optimize(self, job: OptimizerJob) -> Floats:
        if not job.free.any():
            return job.start
        gains = job.lists.gains(job.metric, job.start, self.company) / 100
        if job.lists.sparse is not None:
            return self._optimize_sparse(job, gains)
        lists, spread = job.reduced, job.reduced.spread
        scaled = np.divide(lists.features, spread, out=np.zeros_like(lists.features), where=spread > 0)
        start = job.reduced_start * spread
        # The scale of weights does not matter to the decoder, but it does to a margin: make scores and gains vary
        # alike.
        size = np.std(numeric.product(scaled, start))
        start *= np.std(gains) / size if size > 0 else 0.0
        nbest = _core.NBestLists(features=scaled, statistics=lists.statistics, offsets=lists.offsets)
        averages = self._mean_of_orders(
            lambda order: _core.mira(
                lists=nbest,
                gains=gains,
                start=start,
                n_passes=self.passes,
                max_step=self.max_step,
                seed=(job.seed + (order << 48)) % (1 << 64),
                progress=job.progress,
            )
        )
        unscaled = np.divide(averages, spread, out=np.zeros_like(averages), where=spread > 0)
        return _best_of(job, [job.restored(weights) for weights in unscaled])

    def _mean_of_orders(self, averages: Callable[[int], Floats]) -> Floats:
        """The mean over random orders of the weights after each pass, (n_passes, n_features)."""
        total = averages(0)
        for order in range(1, self.orders):
            total = total + averages(order)
        return total / self.orders

    def _optimize_sparse(self, job: OptimizerJob, gains: Floats) -> Floats:
        lists, n = job.lists, job.lists.features.shape[1]
        rows = scaled_rows(job, lists.n_lists >= self.min_lists)
        spread = np.append(lists.spread[:n], np.ones(rows.shape[1] - n))
        start = np.where(lists.spread > 0, job.start * spread, 0.0)
        size = np.std(numeric.sparse_product(rows, start))
        weights = start * (np.std(gains) / size if size > 0 else 0.0)
        rng = np.random.default_rng(job.seed)
        rows.sum_duplicates()  # columns of a row increase
        candidates = _core.SparseCandidates(
            values=rows.data,
            columns=rows.indices.astype(np.int32),
            row_offsets=rows.indptr.astype(np.int64),
            lists=lists.offsets,
        )

        def averages_of(_: int) -> Floats:
            orders = [rng.permutation(lists.n_sentences) for _ in range(self.passes)]
            return _core.sparse_mira(
                candidates=candidates,
                gains=gains,
                start=weights,
                orders=np.concatenate(orders).astype(np.uint32),
                max_step=self.max_step,
                progress=job.progress,
            )

        averages = self._mean_of_orders(averages_of)
        ends = [np.divide(w, spread, out=np.zeros_like(w), where=spread > 0) for w in averages]
        return of_old_size(job, _best_of(job, ends))


def _best_of(job: OptimizerJob, ends: list[Floats]) -> Floats:
    """The weights with the best metric on the lists; ties go to the first."""
    values = [job.lists.value(job.metric, weights) for weights in ends]
    return ends[int(np.argmax(values) if job.metric.higher_is_better else np.argmin(values))]


def scaled_rows(job: OptimizerJob, frequent: npt.NDArray[np.bool_]) -> sparse.csr_array:
    """Features of all candidates: dense ones scaled to the same spread, and the frequent sparse ones."""
    lists = job.lists
    if job.fixed is not None and job.fixed.any():
        raise OptionError("sparse features cannot be tuned while weights are fixed: leave --fix out")
    spread = lists.spread[: lists.features.shape[1]]
    scaled = np.divide(lists.features, spread, out=np.zeros_like(lists.features), where=spread > 0)
    selection = sparse.diags_array(frequent.astype(np.float64))
    return sparse.hstack([sparse.csr_array(scaled), sparse.csr_array(lists.sparse).dot(selection)], format="csr")


def of_old_size(job: OptimizerJob, weights: Floats) -> Floats:
    """New weights at the scale of the old ones, sparse ones not counted; features that never differ keep theirs."""
    varies, n = job.lists.spread > 0, job.lists.features.shape[1]
    old, new = (np.abs(each[:n][varies[:n]]).sum() for each in (job.start, weights))
    factor = old / new if old > 0 and new > 0 else 1.0
    return np.where(varies, weights * factor, job.start)
