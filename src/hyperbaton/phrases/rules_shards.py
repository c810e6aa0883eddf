"""Hierarchical rules extracted in shards, by the workers of any executor.

A task creates the sorted runs of a shard of the sentence pairs; for a text, an earlier task finds the target sides that
rules for the text have in the shard. The process that distributes the work merges the runs and scores the rules, so the
table is bit-identical for any number of shards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
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
    return [run for k in range(shards) for run in map_arrays(folder, f"runs.{k}").values()]


def _find_targets(job: _RuleJob, shard: int) -> int:
    """The target sides of the rules of a shard that match the text; returns their number."""
    first, last = job.starts[shard : shard + 2]
    hashes = _hashes(job.work().targets_of(_sides(job.folder, "sources"), first, last))
    write_arrays(job.folder, f"targets.{shard}", {"hashes": hashes})
    return len(hashes)


def _extract_shard(job: _RuleJob, shard: int) -> int:
    """The sorted runs of a shard; returns their number."""
    work, (first, last) = job.work(), job.starts[shard : shard + 2]
    if job.has_text:
        work = replace(work, targets=_sides(job.folder, "targets"))
    runs = work.runs(first, last, Resources(job.threads))
    write_arrays(job.folder, f"runs.{shard}", {str(number): run for number, run in enumerate(runs)})
    return len(runs)


def _sides(folder: Path, owner: str) -> _core.RuleSides:
    return _core.RuleSides(map_arrays(folder, owner)["hashes"])


def _hashes(sides: _core.RuleSides) -> npt.NDArray[np.uint64]:
    return np.sort(sides.hashes())
