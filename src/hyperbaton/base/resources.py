"""Resources of a piece of work: threads, memory, the workers of an executor, and the progress callback.

A public function takes the ones it needs as keywords, and combines them in one `Resources`; functions below it pass it on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hyperbaton.base.errors import Cancelled
from hyperbaton.base.progress import Phases, Progress, n_threads
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.workers import Workers


@dataclass(frozen=True)
class Resources:
    """Threads of this process, progress, storage for large arrays, and the workers of tasks.

    >>> resources = Resources.of(2, progress=lambda done, total: print(done, total))
    >>> resources.part(1, of=3).report(5, 10)
    15 30
    >>> resources.part(1, of=3, size=2).report(5, 10)
    10 15
    >>> resources.items(20, of=30).report(5, 10)
    25 30
    >>> resources.tasks() is resources
    True
    """

    threads: int
    progress: Progress | None = None
    scratch: Scratch = field(default_factory=Scratch)
    workers: Workers = Workers()
    stages: Callable[[str], Progress] | None = None  # progress by the name of a stage
    phases: Phases | None = None

    @classmethod
    def of(
        cls,
        threads: int | None = None,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
        workers: Workers | None = None,
    ) -> Resources:
        """Resources from a function's keywords; by default all processors, and unlimited memory."""
        return cls(n_threads(threads), progress, scratch or Scratch(), workers or Workers())

    def stage(self, name: str) -> Resources:
        """Resources for one stage of the work, with separate progress if stages have it."""
        return self if self.stages is None else replace(self, progress=self.stages(name))

    def phase(self, name: str) -> Resources:
        """Resources for one phase of a stage, with its share of the progress."""
        return self if self.phases is None else replace(self, progress=self.phases.begin(name))

    def part(self, number: int, of: int, size: int = 1) -> Resources:
        """Resources for one of several consecutive parts of equal size, or for `size` of them from `number` on."""
        if (whole := self.progress) is None:
            return self
        return replace(self, progress=lambda done, total: whole(number * total // size + done, of * total // size))

    def items(self, begin: int, of: int) -> Resources:
        """Resources for consecutive items from number `begin` on, of `of` items; progress counts items."""
        if (whole := self.progress) is None:
            return self
        return replace(self, progress=lambda done, _: whole(begin + done, of))

    def report(self, done: int, total: int) -> None:
        """Report progress; raises Cancelled if the callback returns False."""
        if self.progress is not None and self.progress(done, total) is False:
            raise Cancelled("cancelled")

    def tasks(self) -> Resources:
        """Resources of a task: these in this process; elsewhere, those of a worker, which reports no progress."""
        return self if self.workers.executor is None else Resources(self.workers.threads)
