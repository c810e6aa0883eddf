"""Options for the resources of commands: threads, memory, shards, and the display of progress.

A command takes one of these classes as a parameter; work that can be distributed gets its `Resources` from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import limited
from hyperbaton.cli import ExecutorAddress, Memory, Quiet, Shards, SharedOptions, Threads

if TYPE_CHECKING:
    from hyperbaton.base.executors import Sharding


@dataclass(frozen=True)
class ThreadOptions(SharedOptions):
    """Options of commands that work in one process."""

    threads: Threads = 0
    quiet: Quiet = False

    @property
    def n_threads(self) -> int:
        """The number of threads: all processors by default."""
        return n_threads(self.threads)

    def bars(self, quiet: bool = False) -> Bars:
        """Progress bars on the terminal, silent if `quiet` is set here or on the command line."""
        return Bars(self.quiet or quiet)


@dataclass(frozen=True)
class ShardOptions(ThreadOptions):
    """Options of commands whose work can be distributed."""

    executor: ExecutorAddress = None
    shards: Shards = 0

    @property
    def in_shards(self) -> bool:
        """Whether the work is split."""
        return self.executor is not None or self.shards > 1

    @contextmanager
    def open(self, output: str | PathLike[str] | None = None, bars: Bars | None = None) -> Iterator[Resources]:
        """The resources of the command; files of shards are in the output's folder, and removed at the end of the block."""
        with (
            bars or self.bars() as shown,
            self._open_sharding(output) as sharding,
        ):
            yield Resources(self.n_threads, sharding=sharding, stages=shown.stage)

    def _open_sharding(self, output: str | PathLike[str] | None) -> AbstractContextManager[Sharding | None]:
        if not self.in_shards:
            return nullcontext()
        from hyperbaton.base.executors import open_sharding  # imported here: most work is not split

        return open_sharding(self.executor, self.shards, self.threads, output)


@dataclass(frozen=True)
class MemoryOptions(ShardOptions):
    """Options of commands whose memory can also be limited."""

    memory: Memory = None

    @contextmanager
    def open(self, output: str | PathLike[str] | None = None, bars: Bars | None = None) -> Iterator[Resources]:
        with super().open(output, bars) as resources:
            yield replace(resources, scratch=limited(self.memory))
