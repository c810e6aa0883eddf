"""Work in shards, run by any `concurrent.futures.Executor`: processes on this machine, Dask, MPI, Slurm.

A task is a function, a job (paths and options, no large arrays) and the number of a shard; it reads and writes files that
driver and workers both see. The number of shards is chosen by the user and does not depend on the number of workers.
Results are returned in the order of the shards. So every executor produces identical files, even if a task is run twice
because its worker was lost.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import re
import shutil
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import HyperbatonError, OptionError, import_failure
from hyperbaton.base.progress import Progress

log = logging.getLogger(__name__)

SHARDS = 16  # with an executor, if the number of shards is not given
ATTEMPTS = 4  # maximum number of attempts at a task whose workers are lost; Dask counts in the same way
REMOVALS = 20  # attempts at removing the files of shards
CONNECTING = 10.0  # seconds to wait for a scheduler
FORMS = "dask://HOST:PORT or processes:N"

S = TypeVar("S")
T = TypeVar("T")
J = TypeVar("J")


class WorkersLost(HyperbatonError):
    """Tasks cannot be finished, because the processes that run them die."""


def n_shards(shards: int, executor: object) -> int:
    """The number of shards for the value of an option; 0 is the default."""
    return shards or (SHARDS if executor is not None else 1)


def shard_starts(n_items: int, shards: int) -> list[int]:
    """The start of each of `shards` consecutive shards, and the end of the last one.

    >>> shard_starts(10, 4)
    [0, 2, 5, 7, 10]
    """
    return [n_items * k // shards for k in range(shards + 1)]


@dataclass(frozen=True)
class Sharding:
    """How work is distributed: the number of shards, and the folder of their files, which all workers can read and write.

    Without an executor this process does the work. `threads` is the number of threads of each task. `workers` collects
    the host and process of each worker.
    """

    folder: Path
    shards: int
    executor: Executor | None = None
    threads: int = 1
    workers: set[str] = field(default_factory=set, compare=False)

    def do(self, function: Callable[[J, int], T], job: J, progress: Progress | None = None) -> Generator[T]:
        """Call `function(job, k)` for every shard k, and yield the results in shard order.

        `progress` counts shards.
        """
        for result in self.results(function, job, progress):
            yield result.value

    def results(
        self, function: Callable[[J, int], T], job: J, progress: Progress | None = None
    ) -> Generator[ShardResult[T]]:
        """Call `function(job, k)` for every shard k, and yield the results in order, each with its worker."""
        for result in do_shards(self.executor, function, job, self.shards, progress):
            self.workers.add(result.worker)
            yield result


class InMemory:
    """In-memory replacement for the folder of shards if one process does the work; arrays are stored by owner."""

    def __init__(self) -> None:
        self.arrays: dict[str, dict[str, Array]] = {}


@dataclass(frozen=True)
class Here:
    """Work done by this process alone: one shard, without files. See `Sharding` for distributed work."""

    threads: int
    folder: InMemory = field(default_factory=InMemory)
    shards: int = 1

    def do(self, function: Callable[[J, int], T], job: J, progress: Progress | None = None) -> Generator[T]:
        """Call `function(job, 0)`, and yield its result."""
        for result in do_shards(None, function, job, self.shards, progress):
            yield result.value


@dataclass(frozen=True)
class ShardResult(Generic[T]):
    """The result of a shard's task, and the host and process of its worker."""

    value: T
    worker: str


def do_shards(
    executor: Executor | None,
    function: Callable[[J, int], T],
    job: J,
    shards: int,
    progress: Progress | None = None,
) -> Iterator[ShardResult[T]]:
    """Call `function(job, k)` for every shard k, and yield the results in shard order.

    Without an executor, this process does the work. `progress` counts shards.
    """
    tasks = [(function, job, k) for k in range(shards)]
    results = map(_do, tasks) if executor is None else ordered_map(executor, shards, _do, tasks)
    for done, result in enumerate(results, start=1):
        yield result
        if progress is not None:
            progress(done, shards)


def _do(task: tuple[Callable[[J, int], T], J, int]) -> ShardResult[T]:
    function, job, shard = task
    return ShardResult(function(job, shard), worker_name())


def worker_name() -> str:
    """Host and process id of this process."""
    import socket  # slow to import, and only tasks need it

    return f"{socket.gethostname()}:{os.getpid()}"


def ordered_map(executor: Executor, ahead: int, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Map a function over items on the workers of an executor; results are in order, with at most `ahead` items in flight.

    An item whose worker was lost is processed again. When the caller stops, or an item fails, the others are cancelled.
    """
    waiting: deque[_Attempt[S, T]] = deque()
    try:
        for item in items:
            waiting.append(_Attempt(item, executor.submit(function, item)))
            if len(waiting) > ahead:
                yield _next_result(executor, function, waiting)
        while waiting:
            yield _next_result(executor, function, waiting)
    finally:
        for attempt in waiting:
            attempt.future.cancel()


@dataclass
class _Attempt(Generic[S, T]):
    item: S
    future: Future[T]
    number: int = 1

    @property
    def lost(self) -> bool:
        return self.future.done() and not self.future.cancelled() and _means_lost_worker(self.future.exception())


def _means_lost_worker(error: BaseException | None) -> bool:
    """Whether an error says that a worker was lost, not that the task failed.

    If a worker ends while Dask is about to hand over its result, Dask loses the result and treats it as an error, which
    raises a TypeError in Dask's code.
    """
    if isinstance(error, TypeError):
        modules = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
        return modules[-1:] == ["distributed.cfexecutor"]
    return isinstance(error, BrokenExecutor)


def _next_result(executor: Executor, function: Callable[[S], T], waiting: deque[_Attempt[S, T]]) -> T:
    first = waiting[0]
    while True:
        try:
            result = first.future.result()
            waiting.popleft()
            return result
        except CancelledError as error:
            raise WorkersLost("the executor has given up its tasks: is its scheduler gone?") from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # an error of Dask, which may not be installed
                raise WorkersLost("a task killed several workers in a row (out of memory?)") from error
            if not _means_lost_worker(error):
                raise
            if first.number == ATTEMPTS:
                raise WorkersLost(f"a task killed {ATTEMPTS} workers in a row (out of memory?)") from error
            log.warning("a worker was lost; its tasks will be run again")
            for attempt in waiting:
                if attempt.lost:
                    attempt.future, attempt.number = _submit_again(executor, function, attempt.item), attempt.number + 1


def _submit_again(executor: Executor, function: Callable[[S], T], item: S) -> Future[T]:
    try:
        return executor.submit(function, item)
    except (BrokenExecutor, RuntimeError) as error:
        raise WorkersLost("a process of the pool ended, and with it the pool (out of memory?)") from error


@contextlib.contextmanager
def open_executor(address: str | None) -> Iterator[Executor | None]:
    """The executor at an address, `dask://HOST:PORT` or `processes:N`; None without an address.

    When the block is left by an error or Ctrl-C, tasks that have not started are cancelled.
    """
    if address is None:
        yield None
        return
    if match := re.fullmatch(r"processes:([1-9]\d{0,3})", address):
        from hyperbaton.base.processes import Processes  # here, since it imports multiprocessing

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
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise import_failure(error, "distributed", "dask", "distributed") from error
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
    for known in (name, *logging.root.manager.loggerDict):
        if known == name or known.startswith(f"{name}."):
            logging.getLogger(known).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def open_sharding(
    address: str | None, shards: int, threads: int, output: str | PathLike[str] | None
) -> Iterator[Sharding | None]:
    """How a command distributes its work according to its options; None if it does all the work itself.

    Files of shards are in the folder of the output, and are removed at the end of the block.
    """
    if address is None and shards <= 1:
        yield None
        return
    with shard_folder(output) as folder, open_executor(address) as executor:
        yield Sharding(folder, n_shards(shards, address), executor, threads or 1)


@contextlib.contextmanager
def shard_folder(output: str | PathLike[str] | None = None) -> Iterator[Path]:
    """A folder for the files of shards, in the folder of an output that all workers see, or in the current folder."""
    beside = Path.cwd() if output is None or os.fspath(output) == "-" else Path(output).absolute().parent
    from tempfile import mkdtemp  # imported here: most work is not split

    folder = Path(mkdtemp(prefix=".hyperbaton-shards-", dir=beside))
    try:
        yield folder
    finally:
        for _ in range(REMOVALS):  # a worker that has not yet learned that its task is cancelled may still write a file
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


def part_files(folder: Path, shard: int | str, names: Sequence[str]) -> dict[str, Path]:
    """The paths of a shard's part of each output."""
    return {name: folder / f"{shard}.{name}" for name in names}


@contextlib.contextmanager
def writing_parts(folder: Path, shard: int | str, names: Sequence[str]) -> Iterator[dict[str, BinaryIO]]:
    """Open the parts of a shard for writing; they appear when the block ends without an error.

    Two workers may process the same shard, if one was believed lost: each writes to its own temporary files, with equal
    content.
    """
    mark = f"{os.getpid()}-{os.urandom(4).hex()}"
    parts = part_files(folder, shard, names)
    asides = {name: part.with_name(f"{part.name}.{mark}") for name, part in parts.items()}
    with contextlib.ExitStack() as stack:
        # Not base.writing, which creates missing folders: this folder is missing if the work was cancelled.
        yield {name: stack.enter_context(aside.open("wb")) for name, aside in asides.items()}
    for name, part in parts.items():
        asides[name].replace(part)


def write_parts(
    folder: Path, shard: int | str, names: Sequence[str], groups: Iterable[tuple[int, Mapping[str, bytes]]]
) -> tuple[int, dict[str, Path]]:
    """Write the parts of a shard, and return the number of its lines and its files.

    Each of `groups` has a number of lines and a piece of every output.
    """
    n_lines = 0
    with writing_parts(folder, shard, names) as files:
        for n, pieces in groups:
            for name, piece in pieces.items():
                files[name].write(piece)
            n_lines += n
    return n_lines, part_files(folder, shard, names)
