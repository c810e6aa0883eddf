"""Progress of long calls.

Every function that can take more than a few seconds accepts `progress`, a callable `(done, total)` that is called now
and then; when it returns False the call stops with `Cancelled`, and nothing half-made stays behind. `Bars` shows such
callables as bars on a terminal.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Protocol

__all__ = ["Bars", "Progress", "default_threads"]


class Progress(Protocol):
    """Called with items done and items in all; returns False to cancel."""

    def __call__(self, done: int, total: int) -> bool | None: ...


class Bars:
    """Progress bars on stderr, one for each stage; silent when stderr is no terminal or `quiet` is set.

    >>> with Bars(quiet=True) as bars:
    ...     progress = bars.stage("extract")
    ...     progress(1, 2)
    """

    def __init__(self, quiet: bool = False) -> None:
        self.visible = not quiet and sys.stderr.isatty()

    def __enter__(self) -> Bars:
        if self.visible:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            self._bars = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.visible:
            self._bars.stop()

    def stage(self, name: str) -> Progress:
        """A callable for one stage of the work."""
        if not self.visible:
            return _silent
        task = self._bars.add_task(name, total=None)

        def report(done: int, total: int) -> None:
            self._bars.update(task, completed=done, total=total)

        return report


def _silent(done: int, total: int) -> None:
    return None


def default_threads() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
