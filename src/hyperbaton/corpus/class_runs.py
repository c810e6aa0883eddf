"""Runs of the exchange algorithm, by this process or as tasks for the workers of any executor.

Each run starts from the best classes so far. Several runs are done at once, assuming that none of them ends higher; if
one does, those after it are abandoned and restarted from the new best classes. So the result is that of successive runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import Cancelled
from hyperbaton.base.executors import Sharding
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shard_arrays import map_arrays, write_arrays
from hyperbaton.corpus.text import Text

ClassIds = npt.NDArray[np.uint16]
Run = tuple[ClassIds, npt.NDArray[np.float64]]  # classes by word; the criterion at the start and after each sweep
# Does runs from given initial classes; the number is that of the first run.
Runs = Callable[[Sequence[ClassIds], int], Generator[Run, None, None]]

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
class _Job:
    folder: Path
    exchange: Exchange
    n_words: int
    first_run: int
    threads: int

    @property
    def mark(self) -> Path:
        """A file that marks these runs as no longer needed."""
        return self.folder / f"unwanted.{self.first_run}"

    def start(self, run: int) -> str:
        """The arrays that a run starts from."""
        return f"start.{self.first_run}.{run}"

    def end(self, run: int) -> str:
        """The arrays of a finished run.

        An abandoned run may still finish after it was restarted, so the first run is in the name.
        """
        return f"end.{self.first_run}.{run}"


def runs_here(text: Text, exchange: Exchange, runs: int, resources: Resources) -> Runs:
    """Runs on a text, done by this process."""
    threads = resources.threads
    bigrams = _core.WordBigrams(text.tokens, text.offsets, len(text.vocabulary), threads)

    def do(starts: Sequence[ClassIds], first_run: int) -> Generator[Run]:
        for number, start in enumerate(starts, start=first_run):
            yield exchange.run(bigrams, start, threads, resources.part(number, runs).progress)

    return do


def runs_by_workers(text: Text, exchange: Exchange, sharding: Sharding, report: Callable[[int], None]) -> Runs:
    """Runs on a text, in order; those in progress when the caller stops are abandoned.

    `report` is called with the number of finished runs.
    """
    write_arrays(sharding.folder, "text", {"tokens": text.tokens, "offsets": text.offsets})

    def do(starts: Sequence[ClassIds], first_run: int) -> Generator[Run]:
        job = _Job(sharding.folder, exchange, len(text.vocabulary), first_run, sharding.threads)
        for run, start in enumerate(starts, start=first_run):
            write_arrays(job.folder, job.start(run), {"classes": start})
        with closing(replace(sharding, shards=len(starts)).do(_do_run, job)) as tasks:
            try:
                for run in tasks:
                    report(run + 1)
                    ended = map_arrays(job.folder, job.end(run))
                    classes, history = (np.array(ended[name]) for name in ARRAYS)
                    yield classes, history
            finally:
                job.mark.touch()

    return do


def _do_run(job: _Job, k: int) -> int:
    """One run, unless it is abandoned; returns its number."""
    text = map_arrays(job.folder, "text")
    run, looked = job.first_run + k, time.monotonic()

    def wanted(done: int, total: int) -> bool:
        nonlocal looked
        if time.monotonic() < looked + _LOOKING:
            return True
        looked = time.monotonic()
        return job.folder.exists() and not job.mark.exists()

    try:
        bigrams = _core.WordBigrams(text["tokens"], text["offsets"], job.n_words, job.threads)
        start = map_arrays(job.folder, job.start(run))["classes"]
        classes, history = job.exchange.run(bigrams, start, job.threads, wanted)
        write_arrays(job.folder, job.end(run), dict(zip(ARRAYS, (classes, history), strict=True)))
    except (Cancelled, FileNotFoundError):  # the latter if the folder has been removed
        if job.folder.exists() and not job.mark.exists():
            raise
    return run
