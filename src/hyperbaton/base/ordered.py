"""Map a function over items with any `concurrent.futures.Executor`, in order; items of lost workers are done again."""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from hyperbaton.base.errors import HyperbatonError

log = logging.getLogger(__name__)

ATTEMPTS = 4  # maximum number of attempts at a task whose workers are lost; Dask counts in the same way

S = TypeVar("S")
T = TypeVar("T")


class WorkersLost(HyperbatonError):
    """Tasks cannot be finished, because the processes that run them die."""


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
