"""The n-grams of a text counted in shards: one in memory, or several by the workers of any executor.

There are two kinds of tasks, which pass large arrays as files:

1. a shard of the sentences: its distinct n-grams with their counts, by suffix, and where each key range of them starts;
2. a key range of the n-grams: those of all shards merged; a single shard needs none.

Ranges are chosen from a sample of the sentences, so that they have about the same size. Counts are whole numbers, and
ranges one after the other are the n-grams of the whole text by suffix. So the result depends neither on the number of
shards nor on the cuts between ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import gather
from hyperbaton.base.executors import Here, InMemory, Sharding, shard_starts
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import Folder, join_arrays, map_arrays, open_arrays, remove_arrays, write_arrays
from hyperbaton.lm.rows import Rows, RowSorter

Key = tuple[int, ...]  # the words of an n-gram, newest first

_SAMPLED = 64  # sentences for each key range, to choose the cuts between ranges from


@dataclass(frozen=True)
class _NgramJob:
    folder: Folder
    starts: tuple[int, ...]  # sentences of shards
    order: int
    memory: int
    threads: int
    cuts: tuple[Key, ...]  # between key ranges

    def sorter(self, n_rows: int) -> RowSorter:
        """A sorter within the memory of a task; rows and results that fit stay in memory."""
        fits = 2 * 4 * n_rows * (self.order + 2) <= self.memory
        return RowSorter(self.memory, Scratch(None if fits else self.memory), self.threads)


@dataclass(frozen=True)
class _MergeJob:
    """The counted shards, as input for merging."""

    counting: _NgramJob
    folder: Path
    range_sizes: tuple[int, ...]  # rows of all shards


def count_shards(
    tokens: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    order: int,
    split: Sharding | Here,
    sorter: RowSorter,
    step: Callable[[], None],
) -> Rows:
    """The n-grams of the highest order, by suffix, as `RowSorter.count` gives them.

    The file with the rows of a single shard stays until the caller removes the folder, when the model is made.

    Arguments:
        sorter: its memory is also that of each task; its scratch is where the result is kept.
        step: called after each task.
    """
    folder, shards = split.folder, split.shards
    write_arrays(folder, "text", {"tokens": tokens, "offsets": offsets})
    starts = tuple(shard_starts(len(offsets) - 1, shards))
    job = _NgramJob(folder, starts, order, sorter.memory, split.threads, _cuts(tokens, offsets, order, shards, sorter))
    sizes = np.zeros(shards, np.int64)
    for counted in split.do(_count_shard, job):
        sizes += counted
        step()
    if isinstance(folder, InMemory) or shards == 1:
        whole: Rows = map_arrays(folder, _counted(0))["rows"]
        return whole
    for _ in split.do(_merge_range, _MergeJob(job, folder, tuple(sizes.tolist()))):
        step()
    rows: Rows = join_arrays(folder, [_merged(key_range) for key_range in range(shards)], "rows", sorter.scratch)
    for shard in range(shards):
        remove_arrays(folder, _counted(shard))
    return rows


def _cuts(
    tokens: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], order: int, ranges: int, sorter: RowSorter
) -> tuple[Key, ...]:
    """N-grams that cut those of the text into `ranges` ranges of about equal size."""
    if ranges == 1:
        return ()
    n = len(offsets) - 1
    where, own = gather(offsets, np.array(shard_starts(n, min(n, _SAMPLED * ranges))[:-1]))
    rows = sorter.count(tokens[where], own, order)
    return tuple(_key(rows[at], order) for at in shard_starts(len(rows), ranges)[1:-1])


def _count_shard(job: _NgramJob, shard: int) -> list[int]:
    """The distinct n-grams of a shard; returns how many of them are in each key range."""
    begin, end = job.starts[shard : shard + 2]
    text = map_arrays(job.folder, "text")
    offsets = text["offsets"][begin : end + 1]
    tokens = text["tokens"][offsets[0] : offsets[-1]]
    rows = job.sorter(len(tokens) + end - begin).count(tokens, offsets - offsets[0], job.order)
    cuts = (bisect_left(rows, cut, key=lambda row: _key(row, job.order)) for cut in job.cuts)
    starts = np.array([0, *cuts, len(rows)])
    write_arrays(job.folder, _counted(shard), {"rows": rows, "starts": starts})
    sizes: list[int] = np.diff(starts).tolist()
    return sizes


def _merge_range(job: _MergeJob, key_range: int) -> int:
    """The n-grams from one cut to the next, of all shards; returns how many."""
    n_rows, runs, at = job.range_sizes[key_range], [], 0
    sorter = job.counting.sorter(n_rows)
    counted = sorter.scratch.array((n_rows, job.counting.order + 2), np.uint32)
    for shard in range(len(job.range_sizes)):
        with open_arrays(job.folder, _counted(shard)) as arrays:
            begin, end = arrays["starts"][key_range : key_range + 2].tolist()
            runs.append(counted[at : (at := at + end - begin)])
            arrays["rows"].read(runs[-1], begin)
    merged = sorter.merge(runs, by_context=False)
    write_arrays(job.folder, _merged(key_range), {"rows": merged})
    return len(merged)


def _key(row: Rows, order: int) -> Key:
    return tuple(row[:order].tolist())


def _counted(shard: int) -> str:
    return f"shard.{shard}"


def _merged(key_range: int) -> str:
    return f"merged.{key_range}"
