"""Train jump models in shards, with the workers of an executor: L-BFGS whose sums are computed by tasks.

A first task for each shard computes the features of its sentences and stores them in files. In every pass a task maps
them, and sums the loss and the gradient of its shard; this process adds the sums in the order of the shards, and has the
weights. The model depends on the number of shards, because their sums are rounded, but not on the workers; one shard
gives the same model as training without shards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton import _core
from hyperbaton.align import VisitOrders
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.executors import Sharding
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shard_arrays import map_arrays, remove_arrays, write_arrays
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.models.jumps.lists import JumpForm, kept_lists, n_lists
from hyperbaton.models.shapes.next_position import JumpTraining, TaggedSentences


@dataclass(frozen=True)
class _JumpJob:
    folder: Path
    starts: tuple[int, ...]
    form: JumpForm
    tagged: bool
    threads: int
    number: int = 0  # of the pass

    def training(self, shard: int) -> JumpTraining:
        """The sentences of a shard."""
        begin, end = self.starts[shard : shard + 2]
        arrays = map_arrays(self.folder, "training")

        def cut(values: str, offsets: str) -> tuple[Array, Array]:
            own = arrays[offsets][begin : end + 1]
            return arrays[values][own[0] : own[-1]], own - own[0]

        tokens, offsets = cut("tokens", "offsets")
        labels = cut("labels", "offsets")[0] if self.tagged else None
        positions, visit_offsets = cut("positions", "visit_offsets")
        no_words = Vocabulary(np.empty(0, np.uint8), np.zeros(1, np.int64))  # numbers are all that matters
        source = TaggedSentences(Text(tokens, offsets, no_words), labels)
        return JumpTraining(source, VisitOrders(positions, visit_offsets), Resources(self.threads))

    def objective(self, shard: int) -> _core.JumpObjective:
        return self.form.objective(self.training(shard), map_arrays(self.folder, f"lists.{shard}"))


class ShardedJumps:
    """The objective of a jump model, for minimizers that need sums over all sentences."""

    def __init__(self, training: JumpTraining, keys: Array, form: JumpForm, sharding: Sharding) -> None:
        chosen = np.flatnonzero(np.diff(training.visits.offsets))
        source, visits = training.source.select(chosen), training.visits.select(chosen)
        work = offsets_of(n_lists(source.text.lengths))
        cuts = np.searchsorted(work, work[-1] * np.arange(sharding.shards) / sharding.shards)
        starts = np.unique(np.append(cuts, len(chosen)))  # no empty shards
        arrays: dict[str, Array] = {
            "tokens": source.text.tokens,
            "offsets": source.text.offsets,
            "positions": visits.positions,
            "visit_offsets": visits.offsets,
            "keys": keys,
        }
        if source.labels is not None:
            arrays["labels"] = source.labels
        write_arrays(sharding.folder, "training", arrays)
        tagged = source.labels is not None
        self._job = _JumpJob(sharding.folder, tuple(map(int, starts)), form, tagged, sharding.threads)
        self._sharding, self._threads = replace(sharding, shards=len(starts) - 1), training.resources.threads
        for _ in self._sharding.do(_find_features, self._job, training.resources.progress):
            pass

    def lbfgs(self, start: Array, **options: Any) -> tuple[Array, Array]:
        """Weights by L-BFGS, and the objective after each step; options as in the core."""
        _, curvature = self._sum(_curvature, self._job)
        return _core.SummedObjective(self, curvature, n_threads=self._threads).lbfgs(start, **options)

    def warm_start(self, *, n_passes: int, variance: float, progress: Progress | None) -> tuple[Array, Array]:
        """Sums over parts of the shards: AdaGrad weights times their confidences, and the confidences."""
        # The prior is divided among the shards.
        task = partial(_warm_start, n_passes=n_passes, variance=variance * self._sharding.shards)
        _, (weighted, shares) = self._sum(task, self._job, progress)
        return weighted, shares

    def __call__(self, weights: Array) -> tuple[float, Array]:
        """The sum over all sentences, and its gradient."""
        self._job = replace(self._job, number=self._job.number + 1)
        owner = _weights_name(self._job)
        write_arrays(self._job.folder, owner, {"values": weights})
        total = self._sum(_pass, self._job)
        remove_arrays(self._job.folder, owner)
        return total

    def _sum(
        self, task: Callable[[_JumpJob, int], float], job: _JumpJob, progress: Progress | None = None
    ) -> tuple[float, Array]:
        value, vector = 0.0, None
        for shard, own_value in enumerate(self._sharding.do(task, job, progress)):
            owner = _sums_name(job, shard)
            part = map_arrays(job.folder, owner)["values"]
            value += own_value
            # Not added to zeros, since that would change the sign of a zero.
            vector = np.array(part) if vector is None else vector + part
            remove_arrays(job.folder, owner)
        return value, np.zeros((0, job.form.planes)) if vector is None else vector


def _find_features(job: _JumpJob, shard: int) -> int:
    keys = map_arrays(job.folder, "training")["keys"]
    lists = kept_lists(job.training(shard), keys, job.form.n_features, packed=True)
    write_arrays(job.folder, f"lists.{shard}", lists)
    return len(lists["packed"])


def _curvature(job: _JumpJob, shard: int) -> float:
    write_arrays(job.folder, _sums_name(job, shard), {"values": job.objective(shard).curvature()})
    return 0.0


def _warm_start(job: _JumpJob, shard: int, *, n_passes: int, variance: float) -> float:
    sums = job.objective(shard).warm_start(n_passes=n_passes, variance=variance, progress=None)
    write_arrays(job.folder, _sums_name(job, shard), {"values": np.stack(sums)})
    return 0.0


def _pass(job: _JumpJob, shard: int) -> float:
    value, gradient = job.objective(shard)(map_arrays(job.folder, _weights_name(job))["values"])
    write_arrays(job.folder, _sums_name(job, shard), {"values": gradient})
    return float(value)


def _weights_name(job: _JumpJob) -> str:
    return f"weights.{job.number}"


def _sums_name(job: _JumpJob, shard: int) -> str:
    return f"sums.{job.number}.{shard}"
