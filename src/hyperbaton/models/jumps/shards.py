"""Train jump models in shards, with the workers of an executor: minimizers whose sums are computed by tasks.

A first task for each shard computes the features of its sentences and stores them in files. In every pass a task maps
them, and sums the loss and the gradient of its shard, or visits its sentences by AdaGrad; this process adds the sums in
the order of the shards, and has the weights. The model depends on the number of shards, because their sums are rounded,
but not on the workers; one shard gives the same model as training without shards.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    number: int = 0  # of the call

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

    @property
    def adagrad_step(self) -> float:
        """A step of AdaGrad for any text."""
        return self._job.objective(0).adagrad_step

    def lbfgs(self, start: Array, **options: Any) -> tuple[Array, Array]:
        """Weights by L-BFGS, and the objective after each step; options as in the core."""
        (curvature,) = self._sums("curvature")
        return _core.SummedObjective(self, curvature, n_threads=self._threads).lbfgs(start, **options)

    def count_sentences(self) -> Array:
        """The number of sentences in which each feature occurs."""
        (counts,) = self._sums("count_sentences")
        return np.asarray(counts)

    def adagrad(
        self, *state: Array, number: int, n_passes: int, progress: Progress | None, **options: Any
    ) -> Iterator[Any]:
        """The loss during a pass of AdaGrad, the number of parts, and sums over them; arguments as in the core."""
        own = Resources(self._threads, progress).part(number, of=n_passes).progress
        return self._sums("adagrad", *state, progress=own, number=number, n_passes=n_passes, **options)

    def __call__(self, weights: Array) -> tuple[float, Array]:
        """The sum over all sentences, and its gradient."""
        value, gradient = self._sums("__call__", weights)
        return value, gradient

    def _sums(self, method: str, *inputs: Array, progress: Progress | None = None, **options: Any) -> Iterator[Any]:
        """What a method of the objective returns, numbers and arrays, each summed over the shards."""
        job = self._job = replace(self._job, number=self._job.number + 1)
        write_arrays(job.folder, _inputs_name(job), {str(i): array for i, array in enumerate(inputs)})
        sums: dict[str, Any] = {}
        for shard, numbers in enumerate(self._sharding.do(partial(_call, method=method, options=options), job, progress)):
            owner = _results_name(job, shard)
            for name, value in (numbers | map_arrays(job.folder, owner)).items():
                # Not added to zeros, since that would change the sign of a zero.
                sums[name] = sums[name] + value if name in sums else np.array(value)[()]
            remove_arrays(job.folder, owner)
        remove_arrays(job.folder, _inputs_name(job))
        return (sums[name] for name in sorted(sums))


def _find_features(job: _JumpJob, shard: int) -> int:
    keys = map_arrays(job.folder, "training")["keys"]
    lists = kept_lists(job.training(shard), keys, job.form.n_features, packed=True)
    write_arrays(job.folder, f"lists.{shard}", lists)
    return len(lists["packed"])


def _call(job: _JumpJob, shard: int, *, method: str, options: dict[str, Any]) -> dict[str, Any]:
    """Call a method of the objective of a shard; returns the numbers of its result, and stores the arrays."""
    inputs = map_arrays(job.folder, _inputs_name(job)).values()
    result = getattr(job.objective(shard), method)(*inputs, **options)
    named = {str(i): value for i, value in enumerate(result if isinstance(result, tuple) else (result,))}
    arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    write_arrays(job.folder, _results_name(job, shard), arrays)
    return {name: value for name, value in named.items() if name not in arrays}


def _inputs_name(job: _JumpJob) -> str:
    return f"inputs.{job.number}"


def _results_name(job: _JumpJob, shard: int) -> str:
    return f"results.{job.number}.{shard}"
