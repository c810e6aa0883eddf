"""Processes of this machine as an executor."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Processes(Executor):
    """Processes of this machine; if one is lost (killed, out of memory), all are replaced by new ones."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        # Not fork: threads of this process may hold locks.
        return ProcessPoolExecutor(self._n, multiprocessing.get_context("spawn"), initializer=_ignore_interrupts)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False)
            self._pool = self._new_pool()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if error is not None:  # the results of running tasks are not needed
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                process.terminate()
        self.shutdown(wait=True, cancel_futures=True)
        return None


def _ignore_interrupts() -> None:
    """Ctrl-C at a terminal reaches all processes; the one that distributed the work ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
