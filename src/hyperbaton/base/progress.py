"""Progress of long calls.

Every function that can take more than a few seconds accepts `progress`, a callable `(done, total)` that is called
regularly. If it returns False, the call stops with `Cancelled` and leaves no partial output. `Bars` makes such callables
that draw bars on a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

__all__ = ["Bar", "Bars", "LiveLine", "Progress", "default_threads", "is_terminal", "n_threads"]


class Progress(Protocol):
    """Called with the number of items done and the total; returns False to cancel."""

    def __call__(self, done: int, total: int) -> bool | None: ...


class Bars:
    """Progress bars on stderr, one for each stage; silent if stderr is not a terminal or `quiet` is set.

    Code that prints data while bars are shown must set `quiet` if stdout is a terminal too, where the two would mix.

    >>> with Bars(quiet=True) as bars:
    ...     progress = bars.stage("extract")
    ...     progress(1, 2)
    """

    def __init__(self, quiet: bool = False) -> None:
        self.visible = not quiet and is_terminal(sys.stderr)

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
                redirect_stdout=False,  # stdout is data: rich would print it on stderr
            )
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.visible:
            self._bars.stop()

    def stage(self, name: str) -> Bar:
        """A callable for one stage of the work."""
        return Bar(self._bars if self.visible else None, name)


class Bar:
    """The progress of one stage; restarting a stage restarts its clock."""

    def __init__(self, bars: RichProgress | None, name: str) -> None:
        self._bars, self._done = bars, 0
        self._task = None if bars is None else bars.add_task(name, total=None)

    def __call__(self, done: int, total: int) -> None:
        if self._bars is None or self._task is None:
            return
        if done < self._done:
            self._bars.reset(self._task)
        self._done = done
        self._bars.update(self._task, completed=done, total=total)

    def rename(self, name: str) -> None:
        """Show another name from now on."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, description=name)


class LiveLine:
    """A line at the bottom of stderr's terminal, redrawn from `text` several times a second.

    Other output to stderr appears above it. Without a terminal, or if `quiet` is set, there is no line.
    """

    def __init__(self, text: Callable[[], str], quiet: bool = False) -> None:
        self.visible, self._text = not quiet and is_terminal(sys.stderr), text

    def __enter__(self) -> LiveLine:
        if self.visible:
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text

            self._live = Live(
                get_renderable=lambda: Text(self._text(), no_wrap=True, overflow="ellipsis"),
                console=Console(stderr=True),
                transient=True,
                refresh_per_second=4,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.visible:
            self._live.stop()


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed stream is None."""
    return stream is not None and not stream.closed and stream.isatty()


def n_threads(threads: int | None) -> int:
    """The number of threads for the value of an option: all processors if it is 0 or None."""
    return threads or default_threads()


def default_threads() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
