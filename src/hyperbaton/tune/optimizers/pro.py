"""Pairwise ranked optimisation (Hopkins and May 2011).

Pairs of candidates are drawn from each list; those that differ most in the metric are kept, and a logistic regression on
the differences of their features learns which of the two is better. The metric of a candidate is computed together with
average sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hyperbaton.base.options import option
from hyperbaton.learn.lbfgs import Lbfgs
from hyperbaton.tune.nbest import COMPANY, Floats, Ints
from hyperbaton.tune.optimizers._optimizer import Optimizer, OptimizerJob
from hyperbaton.tune.optimizers.mira import of_old_size, scaled_rows


@dataclass
class Pro(Optimizer):
    """Pairwise ranked optimisation: a classifier of pairs of candidates; for many features."""

    draws: int = option(5000, "number of pairs drawn from each list (Γ)", minimum=1)
    kept: int = option(50, "number of pairs kept from each list (Ξ)", minimum=1)
    min_difference: float = option(5.0, "smallest score difference of a pair, in points of the metric", minimum=0)
    variance: float = option(100.0, "σ² of the Gaussian prior of each weight", minimum=1e-6)
    sparse_variance: float = option(1.0, "σ² of the Gaussian prior of the weights of sparse features", minimum=1e-9)
    company: int = option(COMPANY, "number of average sentences together with which a candidate is scored", minimum=0)
    min_lists: int = option(
        5, "sparse features: number of n-best lists in which a feature must vary to get a weight", minimum=1
    )

    def optimize(self, job: OptimizerJob) -> Floats:
        gains = job.lists.gains(job.metric, job.start, self.company)
        better, worse = self._pairs(job.lists.offsets, gains, np.random.default_rng(job.seed))
        if len(better) == 0:
            return job.start
        if job.lists.sparse is not None:
            return self._optimize_sparse(job, better, worse)
        lists, spread = job.reduced, job.reduced.spread
        differences = lists.features[better] - lists.features[worse]
        rows = np.divide(differences, spread, out=np.zeros_like(differences), where=spread > 0)
        # Use every pair in both directions, so that the classes are balanced.
        labels = np.repeat([1, 0], len(rows))
        learner = Lbfgs(variance=self.variance, intercept=False, threads=job.threads)
        learner.fit(np.concatenate([rows, -rows]), labels, n_classes=2)
        direction = learner.weights_[:, 1] - learner.weights_[:, 0]
        return job.restored(np.divide(direction, spread, out=np.zeros_like(spread), where=spread > 0))

    def _optimize_sparse(self, job: OptimizerJob, better: Ints, worse: Ints) -> Floats:
        lists, n = job.lists, job.lists.features.shape[1]
        rows = scaled_rows(job, lists.n_lists >= self.min_lists)
        # A smaller variance is a smaller unit.
        unit = np.append(np.ones(n), np.full(rows.shape[1] - n, np.sqrt(self.sparse_variance / self.variance)))
        differences = (rows[better] - rows[worse]).dot(sparse.diags_array(unit))
        learner = Lbfgs(variance=self.variance, intercept=False, threads=job.threads)
        both = sparse.vstack([differences, -differences], format="csr")
        learner.fit(both, np.repeat([1, 0], len(better)), n_classes=2)
        direction = (learner.weights_[:, 1] - learner.weights_[:, 0]) * unit
        spread = np.append(lists.spread[:n], np.ones(rows.shape[1] - n))
        return of_old_size(job, np.divide(direction, spread, out=np.zeros_like(spread), where=spread > 0))

    def _pairs(self, offsets: Ints, gains: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """The better and the worse candidate of each kept pair."""
        sizes = np.diff(offsets)
        kept: list[Ints] = []
        # A matrix of draws has a row for each sentence; chunks of sentences keep it small.
        chunk = max(1, (1 << 22) // self.draws)
        for begin in range(0, len(sizes), chunk):
            n = sizes[begin : begin + chunk, None]
            starts = offsets[begin : begin + len(n), None]
            pairs = np.stack([starts + (rng.random((len(n), self.draws)) * n).astype(np.int64) for _ in range(2)])
            gain = gains[pairs]
            difference = np.abs(gain[0] - gain[1])
            difference[difference < max(self.min_difference, 1e-12)] = 0
            top = np.argsort(-difference, axis=1, kind="stable")[:, : self.kept]
            best_pairs = np.take_along_axis(pairs, top[None], axis=2)[:, np.take_along_axis(difference, top, axis=1) > 0]
            swap = gains[best_pairs[0]] < gains[best_pairs[1]]
            kept.append(np.where(swap, best_pairs[::-1], best_pairs))
        better, worse = np.concatenate(kept, axis=1)
        return better, worse
