"""Executors by their addresses: processes of this machine, or a Dask scheduler."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from os import PathLike
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from hyperbaton.base.errors import OptionError, importing
from hyperbaton.base.workers import Workers

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

REMOVALS = 20  # attempts at removing the files of tasks
CONNECTING = 10.0  # seconds to wait for a scheduler
FORMS = "dask://HOST:PORT or processes:N"


@contextlib.contextmanager
def open_executor(address: str | None) -> Iterator[Executor | None]:
    """The executor at an address, `dask://HOST:PORT` or `processes:N`; None without an address.

    When the block is left by an error or Ctrl-C, tasks that have not started are cancelled.
    """
    if address is None:
        yield None
        return
    if match := re.fullmatch(r"processes:([1-9]\d{0,3})", address):
        with Processes(int(match[1])) as pool:
            yield pool
        return
    if match := re.fullmatch(r"dask://([^/\s]+:\d{1,5})/?", address):
        with _dask(match[1]) as executor:
            yield executor
        return
    raise OptionError(f"executor {address!r}: expected {FORMS}")


@contextlib.contextmanager
def _dask(host: str) -> Iterator[Executor]:
    with importing("distributed", "dask", "distributed"):
        distributed: Any = importlib.import_module("distributed")
    _silence("tornado.application")  # suppress tracebacks of calls that Ctrl-C interrupts
    _silence("distributed")  # and of a lost scheduler, which is reported in one line
    try:
        client = distributed.Client(f"tcp://{host}", timeout=CONNECTING, set_as_default=False)
    except OSError as error:
        raise OptionError(
            f"no Dask scheduler answers at {host}: start one ('dask scheduler'), or see docs/cluster.md"
        ) from error
    try:
        if not client.scheduler_info()["workers"]:
            log.warning("the scheduler at %s has no workers yet; waiting for the first", host)
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            with contextlib.suppress(Exception):
                executor.shutdown(wait=False)
    finally:
        # Errors on leaving do not affect the results, which are files; without a scheduler both calls may fail.
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def _silence(name: str) -> None:
    """Silence a library's log, in each of its modules, since every module has its own level."""
    for module in (name, *logging.root.manager.loggerDict):
        if f"{module}.".startswith(f"{name}."):
            logging.getLogger(module).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def open_workers(address: str, threads: int, output: str | PathLike[str] | None) -> Iterator[Workers]:
    """The workers at an address.

    Their files are in the folder of the output, which all of them see, or in the current folder; they are removed at the
    end of the block.
    """
    beside = Path.cwd() if output is None or os.fspath(output) == "-" else Path(output).absolute().parent
    folder = Path(mkdtemp(prefix=".hyperbaton-work-", dir=beside))
    try:
        with open_executor(address) as executor:
            yield Workers(executor, folder, threads)
    finally:
        for _ in range(REMOVALS):  # a worker that has not yet learned that its task is cancelled may still write a file
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


class Processes(Executor):
    """Processes of this machine; if one is lost (killed, out of memory), all are replaced by new ones."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        import multiprocessing  # here, since it is slow to import
        from concurrent.futures import ProcessPoolExecutor

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
