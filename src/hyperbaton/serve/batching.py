"""A bounded queue of jobs, and threads that process compatible jobs in batches.

Clients take turns, whatever the number of their waiting jobs. If all workers are busy, a spare one takes jobs of clients
that have none running, so that slow jobs of one client do not delay those of another. If the queue is full, a job of the
client with the most waiting jobs makes room for one of another client.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from hyperbaton.base.errors import Cancelled
from hyperbaton.serve.options import Refusal

log = logging.getLogger(__name__)
UNWANTED = "no client is waiting for the job"


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
    client: Hashable = None  # for whom the work is done
    future: Future[Any] = field(default_factory=Future)
    abandoned: bool = False  # no client is waiting for it

    @property
    def is_wanted(self) -> bool:
        return not self.abandoned and time.monotonic() < self.deadline

    def check(self) -> None:
        """Stop the work if no client is waiting for it."""
        if not self.is_wanted:
            raise Cancelled(UNWANTED)

    def finish(self, result: Any) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Batcher:
    """Processes jobs in worker threads: one of each client in turn, those of a client first come, first served."""

    def __init__(self, *, n_workers: int, capacity: int, batch: int) -> None:
        self._capacity, self._batch = capacity, batch
        self._waiting: dict[Hashable, deque[Job]] = {}  # by client, in the order of their turns; none is empty
        lock = threading.Lock()
        self._changed, self._overloaded = threading.Condition(lock), threading.Condition(lock)  # workers', the spare one's
        self._closed = False
        self.n_running = 0
        self.n_batches = 0
        self._n_workers = n_workers
        self._running: Counter[Hashable] = Counter()  # jobs by client
        self._threads = [
            threading.Thread(target=self._work, args=(n == n_workers,), name=f"translate-{n}", daemon=True)
            for n in range(n_workers + 1)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job, or refuse it."""
        with self._changed:
            if self._closed:
                raise Refusal(503, "the service is shutting down", 5)
            if self.n_waiting >= self._capacity:
                refusal = Refusal(429, "too many requests are waiting; try again later", 1)
                most = max(self._waiting.values(), key=len)
                if len(most) <= len(self._waiting.get(job.client, ())) + 1:
                    raise refusal
                most.pop().fail(refusal)
            self._waiting.setdefault(job.client, deque()).append(job)
            self._wake()

    @property
    def n_waiting(self) -> int:
        return sum(map(len, list(self._waiting.values())))

    def close(self, timeout: float | None = None) -> None:
        """Accept no more jobs, and wait for the accepted ones."""
        with self._changed:
            self._closed = True
            self._wake(self._n_workers)
        for thread in self._threads:
            thread.join(timeout)

    def _served(self, spare: bool) -> list[Hashable]:
        """The clients with waiting jobs that a worker may take, in the order of their turns."""
        if not spare:
            return list(self._waiting)
        return [c for c in self._waiting if c not in self._running] if self.n_running >= self._n_workers else []

    def _take(self, spare: bool) -> list[Job] | None:
        """The next job with those that can be batched with it; None at the end."""
        with self._changed:
            while True:
                while not (served := self._served(spare)) and (self._waiting or not self._closed):
                    (self._overloaded if spare else self._changed).wait()
                if not served:
                    self._wake(self._n_workers)
                    return None
                client = served[0]
                queue = self._waiting.pop(client)
                first = queue.popleft()
                if queue:
                    self._waiting[client] = queue  # its next turn comes after those of the others
                if self._dropped(first):
                    continue
                taken, size = [first], first.size
                in_turn = chain.from_iterable(zip_longest(*(self._waiting.get(client, ()) for client in served)))
                for job in [job for job in in_turn if job is not None and job.key == first.key]:
                    if size + job.size > self._batch:
                        break
                    self._waiting[job.client].remove(job)
                    if not self._waiting[job.client]:
                        del self._waiting[job.client]
                    if not self._dropped(job):
                        taken.append(job)
                        size += job.size
                self._running.update(job.client for job in taken)
                self.n_running += 1
                self.n_batches += 1
                if self._waiting:
                    self._wake()
                return taken

    def _wake(self, n: int = 1) -> None:
        """Wake `n` workers, and the spare one if it may take a waiting job or end."""
        self._changed.notify(n)
        if self._closed or self.n_running >= self._n_workers:
            self._overloaded.notify()

    @staticmethod
    def _dropped(job: Job) -> bool:
        """Whether no client is waiting for a job."""
        if job.is_wanted:
            return False
        job.fail(Cancelled(UNWANTED))  # not raised: its traceback would refer to the job
        return True

    def _work(self, spare: bool) -> None:
        while self._do_next(spare):
            pass

    def _do_next(self, spare: bool) -> bool:
        """Process the next jobs; false at the end. A separate method, so that a waiting worker keeps no reference to
        jobs."""
        jobs = self._take(spare)
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
                self._running -= Counter(job.client for job in jobs)  # which drops those that have none
                self.n_running -= 1
            for job in jobs:
                job.fail(RuntimeError("the job was not processed"))
        return True
