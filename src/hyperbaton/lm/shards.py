"""The n-grams of a text counted in shards, by the workers of any executor.

Two kinds of tasks, each reading files that those before it wrote; what they write is mapped into memory, not sent:

1. a shard of the sentences: its distinct n-grams with their counts, by suffix;
2. a key range of the n-grams: those of all shards merged.

Counts are whole numbers, and ranges one after the other are the n-grams of the whole text by suffix. So neither the number
of shards nor the place of the cuts between ranges changes anything.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import read_array, remove_arrays, write_arrays
from hyperbaton.lm.rows import Rows, RowSorter

Key = tuple[int, ...]  # the words of an n-gram, newest first

_KEYS = 32  # of each shard, to choose the cuts between ranges from


@dataclass(frozen=True)
class _Job:
    folder: Path
    starts: tuple[int, ...]  # sentences of shards
    order: int
    memory: int
    threads: int
    cuts: tuple[Key, ...] = ()  # between key ranges, known when all shards are counted

    def sorter(self, n_rows: int) -> RowSorter:
        """A sorter that takes the memory of a task; rows that fit, and once more what is made of them, stay there."""
        fits = 2 * 4 * n_rows * (self.order + 2) <= self.memory
        return RowSorter(self.memory, Scratch(None if fits else self.memory), self.threads)

    def counted(self, shard: int) -> Rows:
        return read_array(self.folder, f"shard.{shard}", "rows")


def count_shards(
    tokens: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    order: int,
    sharding: Sharding,
    *,
    memory: int,
    scratch: Scratch,
    step: Callable[[], None],
) -> Rows:
    """The n-grams of the highest order, by suffix, as `RowSorter.count` gives them.

    Files of merged ranges stay until the caller removes the folder, when the model is made: the rows may be one of them.

    Arguments:
        memory: what counting and sorting may take in each task, in bytes.
        scratch: where the result lies.
        step: called after each task.
    """
    folder, shards = sharding.folder, sharding.shards
    write_arrays(folder, "text", {"tokens": tokens, "offsets": offsets})
    job = _Job(folder, tuple(shard_starts(len(offsets) - 1, shards)), order, memory, sharding.threads)
    for _ in sharding.do(_count_shard, job):
        step()
    job = replace(job, cuts=tuple(_cuts(job)))

    def merged() -> Iterator[Rows]:
        for key_range, _ in enumerate(sharding.do(_merge_range, job)):
            yield read_array(folder, f"merged.{key_range}", "rows")
            step()

    rows: Rows = scratch.join(merged(), np.uint32)
    for shard in range(shards):
        remove_arrays(folder, f"shard.{shard}", ["rows"])
    return rows


def _count_shard(job: _Job, shard: int) -> int:
    """The distinct n-grams of a shard; returns how many."""
    begin, end = job.starts[shard : shard + 2]
    offsets = read_array(job.folder, "text", "offsets")[begin : end + 1]
    tokens = read_array(job.folder, "text", "tokens")[offsets[0] : offsets[-1]]
    rows = job.sorter(len(tokens) + end - begin).count(tokens, offsets - offsets[0], job.order)
    write_arrays(job.folder, f"shard.{shard}", {"rows": rows})
    return len(rows)


def _cuts(job: _Job) -> list[Key]:
    """N-grams that cut those of all shards into as many ranges of about the same size."""
    n_shards = len(job.starts) - 1
    keys = []
    for shard in range(n_shards):
        rows = job.counted(shard)
        n_keys = min(_KEYS, len(rows))
        keys += [_key(rows[at], job.order) for at in shard_starts(len(rows), n_keys)[:-1]] if n_keys else []
    keys.sort()
    return [keys[at] for at in shard_starts(len(keys), n_shards)[1:-1]]


def _merge_range(job: _Job, key_range: int) -> int:
    """The n-grams from one cut to the next, of all shards; returns how many."""
    n_shards = len(job.starts) - 1

    def start(rows: Rows, key_range: int) -> int:
        if key_range in (0, n_shards):
            return len(rows) if key_range else 0
        return bisect_left(rows, job.cuts[key_range - 1], key=lambda row: _key(row, job.order))

    counted = [job.counted(shard) for shard in range(n_shards)]
    runs = [rows[start(rows, key_range) : start(rows, key_range + 1)] for rows in counted]
    merged = job.sorter(sum(map(len, runs))).merge(runs, by_context=False)
    write_arrays(job.folder, f"merged.{key_range}", {"rows": merged})
    return len(merged)


def _key(row: Rows, order: int) -> Key:
    return tuple(row[:order].tolist())
