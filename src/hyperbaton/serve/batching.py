"""A bounded queue of jobs, and threads that process compatible jobs in batches."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from hyperbaton.base.errors import Cancelled
from hyperbaton.serve.refusal import Refusal

log = logging.getLogger(__name__)


@dataclass
class Job:
    """Work for one request: jobs with the same `key` may be batched, `size` is the amount of work.

    `run` processes jobs with one key, and must finish each or let it fail.
    """

    key: Hashable
    size: int
    work: Any
    run: Callable[[Sequence[Job]], None]
    deadline: float  # of time.monotonic()
    future: Future[Any] = field(default_factory=Future)
    abandoned: bool = False  # no client is waiting for it

    @property
    def is_wanted(self) -> bool:
        return not self.abandoned and time.monotonic() < self.deadline

    def check(self) -> None:
        """Stop the work if no client is waiting for it."""
        if not self.is_wanted:
            raise self.cancelled()

    @staticmethod
    def cancelled() -> Cancelled:
        return Cancelled("no client is waiting for the job")

    def finish(self, result: Any) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Batcher:
    """Processes jobs in worker threads, first come, first served."""

    def __init__(self, *, n_workers: int, capacity: int, batch: int) -> None:
        self._capacity, self._batch = capacity, batch
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self.n_running = 0
        self.n_batches = 0
        self._threads = [threading.Thread(target=self._work, name=f"translate-{n}", daemon=True) for n in range(n_workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job, or refuse it."""
        with self._changed:
            if self._closed:
                raise Refusal(503, "the service is shutting down", 5)
            if len(self._waiting) >= self._capacity:
                raise Refusal(429, "too many requests are waiting; try again later", 1)
            self._waiting.append(job)
            self._changed.notify()

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    def close(self, timeout: float | None = None) -> None:
        """Accept no more jobs, and wait for the accepted ones."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    def _take(self) -> list[Job] | None:
        """The next job with those that can be batched with it; None at the end."""
        with self._changed:
            while True:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return None
                first = self._waiting.popleft()
                if self._dropped(first):
                    continue
                taken, size = [first], first.size
                for job in [job for job in self._waiting if job.key == first.key]:
                    if size + job.size > self._batch:
                        break
                    self._waiting.remove(job)
                    if not self._dropped(job):
                        taken.append(job)
                        size += job.size
                self.n_running += 1
                self.n_batches += 1
                return taken

    @staticmethod
    def _dropped(job: Job) -> bool:
        """Whether no client is waiting for a job."""
        if not job.is_wanted:
            job.fail(job.cancelled())
            return True
        return False

    def _work(self) -> None:
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        """Process the next jobs; false at the end. A separate method, so that a waiting worker keeps no reference to
        jobs."""
        jobs = self._take()
        if jobs is None:
            return False
        try:
            jobs[0].run(jobs)
        except BaseException as error:  # a job must never end a worker
            log.exception("a batch failed")
            for job in jobs:
                job.fail(error)
        finally:
            with self._changed:
                self.n_running -= 1
            for job in jobs:
                job.fail(RuntimeError("the job was not processed"))
        return True
