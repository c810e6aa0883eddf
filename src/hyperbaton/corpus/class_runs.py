"""Runs of the exchange algorithm: tasks for this process or for the workers of any executor.

Each run starts from the best classes so far. Several runs are done at once, assuming that none of them ends higher; if
one does, those after it are abandoned and restarted from the new best classes. So the result is that of successive runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import Cancelled
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shard_arrays import Folder, has_arrays, map_arrays, remove_arrays, write_arrays
from hyperbaton.corpus.text import Text

ClassIds = npt.NDArray[np.uint16]
Run = tuple[ClassIds, npt.NDArray[np.float64]]  # classes by word; the criterion at the start and after each sweep
# Does runs from given initial classes; the number is that of the first run.
Runs = Callable[[Sequence[ClassIds], int], Generator[Run, None, None]]

TEXT = "text"
ARRAYS = ("classes", "history")  # of a finished run
_LOOKING = 1.0  # seconds between two checks whether a run is still needed


@dataclass(frozen=True)
class Exchange:
    """How a run exchanges words."""

    n_classes: int
    sweeps: int
    batch_size: int

    def run(self, bigrams: _core.WordBigrams, start: ClassIds, n_threads: int, progress: Progress | None) -> Run:
        """One run from given initial classes."""
        classes, history = _core.exchange_classes(
            bigrams,
            start,
            n_classes=self.n_classes,
            max_sweeps=self.sweeps,
            batch_size=self.batch_size,
            n_threads=n_threads,
            progress=progress,
        )
        return classes, history


@dataclass(frozen=True)
class _ExchangeJob:
    folder: Folder
    exchange: Exchange
    n_words: int
    n_runs: int
    resources: Resources  # of a task

    @cached_property
    def bigrams(self) -> _core.WordBigrams:
        """The bigrams of the text, counted by the process that uses them."""
        text = map_arrays(self.folder, TEXT)
        return _core.WordBigrams(text["tokens"], text["offsets"], self.n_words, self.resources.threads)


@dataclass(frozen=True)
class _RunGroup:
    """Runs that are done at once, on the assumption that none of them ends higher."""

    job: _ExchangeJob
    first_run: int

    @property
    def mark(self) -> str:
        """An owner without arrays that marks these runs as no longer needed."""
        return f"unwanted.{self.first_run}"

    def start(self, run: int) -> str:
        """The arrays that a run starts from."""
        return f"start.{self.first_run}.{run}"

    def end(self, run: int) -> str:
        """The arrays of a finished run.

        An abandoned run may still finish after it was restarted, so the first run is in the name.
        """
        return f"end.{self.first_run}.{run}"

    @property
    def wanted(self) -> bool:
        """Whether these runs are still needed; without the text, the folder has been removed."""
        return has_arrays(self.job.folder, TEXT) and not has_arrays(self.job.folder, self.mark)

    def abandon(self, n_runs: int) -> None:
        """Mark the runs as no longer needed, and remove their arrays."""
        write_arrays(self.job.folder, self.mark, {})
        for run in range(self.first_run, self.first_run + n_runs):
            remove_arrays(self.job.folder, self.start(run))
            remove_arrays(self.job.folder, self.end(run))


def runs_on(text: Text, exchange: Exchange, n_runs: int, resources: Resources) -> Runs:
    """Runs on a text, in order; those in progress when the caller stops are abandoned.

    Progress counts finished runs if the work is distributed, and word visits otherwise.
    """
    split = resources.split()
    write_arrays(split.folder, TEXT, {"tokens": text.tokens, "offsets": text.offsets})
    job = _ExchangeJob(split.folder, exchange, len(text.vocabulary), n_runs, resources.tasks())

    def do(starts: Sequence[ClassIds], first_run: int) -> Generator[Run]:
        group = _RunGroup(job, first_run)
        for run, start in enumerate(starts, start=first_run):
            write_arrays(job.folder, group.start(run), {"classes": start})
        with closing(replace(split, shards=len(starts)).do(_do_run, group)) as tasks:
            try:
                for run in tasks:
                    resources.driver().report(run + 1, n_runs)
                    ended = map_arrays(job.folder, group.end(run))
                    classes, history = (np.array(ended[name]) for name in ARRAYS)
                    yield classes, history
            finally:
                group.abandon(len(starts))

    return do


def _do_run(group: _RunGroup, k: int) -> int:
    """One run, unless it is abandoned; returns its number."""
    job, run = group.job, group.first_run + k
    resources, looked = job.resources.part(run, of=job.n_runs), time.monotonic()

    def wanted(done: int, total: int) -> bool:
        nonlocal looked
        resources.report(done, total)
        if time.monotonic() < looked + _LOOKING:
            return True
        looked = time.monotonic()
        return group.wanted

    try:
        start = map_arrays(job.folder, group.start(run))["classes"]
        classes, history = job.exchange.run(job.bigrams, start, resources.threads, wanted)
        write_arrays(job.folder, group.end(run), dict(zip(ARRAYS, (classes, history), strict=True)))
    except (Cancelled, FileNotFoundError):  # the latter if the folder has been removed
        if group.wanted:
            raise
    return run
