"""Options for the resources of commands: threads, memory, an executor, and the display of progress.

A command takes one of these classes as a parameter, and gets the `Resources` of its work from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike

from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch, limited
from hyperbaton.base.workers import Workers
from hyperbaton.cli._parameters import ExecutorAddress, Memory, Quiet, SharedOptions, Threads


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

    @contextmanager
    def open(self, output: str | PathLike[str] | None = None, bars: Bars | None = None) -> Iterator[Resources]:
        """The resources of the command; files of tasks are in the output's folder, and removed at the end of the block."""
        with bars or self.bars() as shown, self._open_workers(output) as workers:
            yield Resources(self.n_threads, scratch=self._scratch(), workers=workers, stages=shown.stage)

    def _open_workers(self, output: str | PathLike[str] | None) -> AbstractContextManager[Workers]:
        return nullcontext(Workers())

    def _scratch(self) -> Scratch:
        return Scratch()


@dataclass(frozen=True)
class ExecutorOptions(ThreadOptions):
    """Options of commands whose work can be distributed."""

    executor: ExecutorAddress = None

    def _open_workers(self, output: str | PathLike[str] | None) -> AbstractContextManager[Workers]:
        if self.executor is None:
            return super()._open_workers(output)
        from hyperbaton.base.executors import open_workers  # imported here: most work is done by this process

        return open_workers(self.executor, self.threads or 1, output)


@dataclass(frozen=True)
class MemoryOptions(ThreadOptions):
    """Options of commands whose memory can be limited."""

    memory: Memory = None

    def _scratch(self) -> Scratch:
        return limited(self.memory)


@dataclass(frozen=True)
class ExecutorAndMemoryOptions(ExecutorOptions, MemoryOptions):
    """Options of commands whose work can be distributed, and the memory of the command itself limited."""
