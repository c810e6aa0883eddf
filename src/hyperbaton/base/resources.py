"""Resources of a piece of work: threads, memory, the workers of an executor, and the progress callback.

A public function takes the ones it needs as keywords, and combines them in one `Resources`; functions below it pass it on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hyperbaton.base.errors import Cancelled
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.scratch import Scratch

if TYPE_CHECKING:
    from hyperbaton.base.executors import Here, Sharding


@dataclass(frozen=True)
class Resources:
    """Threads of this process, progress, storage for large arrays, and how work is distributed, if it is.

    >>> resources = Resources.of(2, progress=lambda done, total: print(done, total))
    >>> resources.part(1, of=3).report(5, 10)
    15 30
    >>> resources.part(1, of=3, size=2).report(5, 10)
    10 15
    >>> resources.items(20, of=30).report(5, 10)
    25 30
    >>> resources.split().shards
    1
    >>> resources.tasks() is resources, resources.driver().progress
    (True, None)
    """

    threads: int
    progress: Progress | None = None
    scratch: Scratch = field(default_factory=Scratch)
    sharding: Sharding | None = None
    stages: Callable[[str], Progress] | None = None  # progress by the name of a stage

    @classmethod
    def of(
        cls,
        threads: int | None = None,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
        sharding: Sharding | None = None,
    ) -> Resources:
        """Resources from a function's keywords; by default all processors, and unlimited memory."""
        return cls(n_threads(threads), progress, scratch or Scratch(), sharding)

    def stage(self, name: str) -> Resources:
        """Resources for one stage of the work, with separate progress if stages have it."""
        return self if self.stages is None else replace(self, progress=self.stages(name))

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

    def split(self) -> Sharding | Here:
        """How work is split: according to `sharding`, or as one shard in the memory of this process."""
        from hyperbaton.base.executors import Here  # imported here: much work is not split

        return Here(self.threads) if self.sharding is None else self.sharding

    def tasks(self) -> Resources:
        """Resources of each task of split work: these, or those of a worker, which reports no progress."""
        return self if self.sharding is None else Resources(self.sharding.threads)

    def driver(self) -> Resources:
        """Resources of the process that splits work; progress counts tasks, or is reported by the only one."""
        return self if self.sharding is not None else replace(self, progress=None)
