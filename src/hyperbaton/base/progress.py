"""Progress of long calls.

Every function that can take more than a few seconds accepts `progress`, a callable `(done, total)` that is called
regularly. If it returns False, the call stops with `Cancelled` and leaves no partial output. `Bars` makes such callables
that draw bars on a terminal.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

__all__ = ["Bar", "Bars", "Phases", "Progress", "default_threads", "is_terminal", "live_line", "n_threads"]


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
        self._bars, self._done, self.name = bars, 0, name
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


class Phases:
    """One progress for consecutive phases: a bar shows `train dpr 3/4: global model`, and the time left for all phases.

    `shares` has the phases in order, with the expected share of the time of each.

    >>> phases = Phases(lambda done, total: print(done, total), {"features": 1, "weights": 3})
    >>> phases.begin("features")(5, 10)
    125 1000
    >>> phases.begin("weights")(5, 10)
    625 1000
    """

    def __init__(self, progress: Progress | None, shares: Mapping[str, float]) -> None:
        self._progress, self._shares, self._most = progress, dict(shares), 0
        self._lock = threading.Lock()  # the core reports from several threads

    def begin(self, name: str) -> Progress | None:
        """The progress of one phase, which may start again within its share."""
        if (whole := self._progress) is None:
            return None
        names, sizes = list(self._shares), list(self._shares.values())
        number = names.index(name)
        before, share = (1000 * part / sum(sizes) for part in (sum(sizes[:number]), sizes[number]))
        if isinstance(whole, Bar) and len(names) > 1:
            whole.rename(f"{whole.name} {number + 1}/{len(names)}: {name}")

        def report(done: int, total: int) -> bool | None:
            with self._lock:
                self._most = max(self._most, int(before + share * min(done / max(total, 1), 1)))
                return whole(self._most, 1000)

        return report


def live_line(text: Callable[[], str], quiet: bool = False) -> AbstractContextManager[object]:
    """A line at the bottom of stderr's terminal, redrawn from `text` several times a second.

    Other output to stderr appears above it. Without a terminal, or if `quiet` is set, there is no line.
    """
    if quiet or not is_terminal(sys.stderr):
        return nullcontext()
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    return Live(
        get_renderable=lambda: Text(text(), no_wrap=True, overflow="ellipsis"),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=4,
        redirect_stdout=False,
    )


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
