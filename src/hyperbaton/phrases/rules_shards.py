"""Hierarchical rules extracted in shards, by the workers of any executor.

A task creates the sorted runs of a shard of the sentence pairs; for a text, an earlier task finds the target sides that
rules for the text have in the shard. The process that distributes the work merges the runs and scores the rules, so the
table is bit-identical for any number of shards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.progress import Progress
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import map_arrays, write_arrays
from hyperbaton.base.store import Artefact
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.bitext import KIND as BITEXT
from hyperbaton.phrases.rules import RuleLimits
from hyperbaton.phrases.rules_extraction import RuleWork


@dataclass(frozen=True)
class _RuleJob:
    folder: Path
    starts: tuple[int, ...]
    limits: RuleLimits
    threads: int
    has_text: bool

    def work(self) -> RuleWork:
        """The work on the bitext; only the pages in use are read."""
        bitext = Bitext.from_arrays(Artefact(self.folder / BITEXT, BITEXT).arrays())
        return RuleWork.of(bitext, self.limits, self.threads)


def runs_in_shards(work: RuleWork, sharding: Sharding, progress: Progress | None) -> list[npt.NDArray[np.uint8]]:
    """The sorted runs of all rules; `progress` counts tasks."""
    folder, shards, sources = sharding.folder, sharding.shards, work.sources
    work.bitext.save(folder / BITEXT)
    starts = tuple(shard_starts(len(work.bitext), shards))
    job = _RuleJob(folder, starts, work.limits, sharding.threads, sources is not None)
    if sources is not None:
        write_arrays(folder, "sources", {"hashes": _hashes(sources)})
        list(sharding.do(_find_targets, job, None))
        targets = np.unique(np.concatenate([map_arrays(folder, f"targets.{k}")["hashes"] for k in range(shards)]))
        write_arrays(folder, "targets", {"hashes": targets})
    list(sharding.do(_extract_shard, job, progress))
    runs = []
    for k in range(shards):
        arrays = map_arrays(folder, f"runs.{k}")
        runs += [arrays["bytes"][begin:end] for begin, end in pairwise(arrays["ends"].tolist())]
    return runs


def _find_targets(job: _RuleJob, shard: int) -> int:
    """The target sides of the rules of a shard that match the text; returns their number."""
    first, last = job.starts[shard : shard + 2]
    hashes = _hashes(job.work().targets_of(_sides(job.folder, "sources"), first, last))
    write_arrays(job.folder, f"targets.{shard}", {"hashes": hashes})
    return len(hashes)


def _extract_shard(job: _RuleJob, shard: int) -> int:
    """The sorted runs of a shard; returns their size in bytes."""
    work = job.work()
    if job.has_text:
        work = replace(work, targets=_sides(job.folder, "targets"))
    runs = [run for _, part in work.runs(Scratch(), *job.starts[shard : shard + 2]) for run in part]
    ends = np.cumsum([0, *map(len, runs)])
    whole = np.concatenate(runs) if runs else np.zeros(0, np.uint8)
    write_arrays(job.folder, f"runs.{shard}", {"bytes": whole, "ends": ends})
    return len(whole)


def _sides(folder: Path, owner: str) -> _core.RuleSides:
    return _core.RuleSides(map_arrays(folder, owner)["hashes"])


def _hashes(sides: _core.RuleSides) -> npt.NDArray[np.uint64]:
    return np.sort(sides.hashes())
