"""Watch a run: which stages run now, what is done, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hyperbaton.base.counted import counted
from hyperbaton.run.execution import MachineLimits, Observer
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Stage

# Cost of the stages of this run that counts as much as what was expected before: of all kinds, and of one kind.
TRUST, TRUST_OF_KIND = 200.0, 10.0


class Watch(Observer):
    """Says a line when a stage ends, and when one starts if nobody looks at `line`, which says what is going on now.

    Costs are in processor seconds of another machine and other text. How long a stage takes for its cost is learned from
    the stages of this run, those of its own kind most of all.
    """

    def __init__(
        self,
        plan: Plan,
        root: Path,
        limits: MachineLimits,
        say: Callable[[str], None],
        says_starts: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root, self.say, self.says_starts, self.clock = root, say, says_starts, clock
        self.ahead = {stage.name: stage for stage in plan if not stage.is_done(root)}
        self.n_stages, self.n_done = len(plan), len(plan) - len(self.ahead)
        self.running: dict[str, tuple[Stage, float]] = {}  # and when each started
        self.jobs = limits.jobs
        self.first_pace = limits.jobs / limits.threads  # seconds for a cost of 1: threads are shared
        self.taken: dict[str, tuple[float, float]] = {}  # by kind: seconds that stages took, and their cost
        self.begin = clock()

    def started(self, stage: Stage) -> None:
        self.running[stage.name] = stage, self.clock()
        if self.says_starts:
            self.say(f"[{self.n_done}/{self.n_stages}] {stage.name} started")

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self._leave(stage)
        self.n_done += 1
        before, cost = self.taken.get(stage.kind, (0.0, 0.0))
        self.taken[stage.kind] = before + seconds, cost + stage.cost.seconds
        mib = stage.record(self.root)["peak_mib"]
        self.say(
            f"[{self.n_done}/{self.n_stages}] {stage.name}: {seconds:.1f} s, {mib:.0f} MiB, {counted(threads, 'thread')}"
        )

    def failed(self, stage: Stage, reason: str) -> None:
        self._leave(stage)
        self.say(f"{stage.name} failed: {reason}")

    def _leave(self, stage: Stage) -> None:
        self.running.pop(stage.name, None)
        self.ahead.pop(stage.name, None)

    def seconds_left(self) -> float:
        """An estimate of the time until all stages are done."""
        # The line is drawn by another thread than the one that stages start and end in: look at copies.
        now, ahead, running = self.clock(), list(self.ahead.values()), list(self.running.values())
        pace = self._pace()
        left = sum(stage.cost.seconds * pace(stage.kind) for stage in ahead)
        # A stage that takes longer than expected is taken to be near its end, not past it.
        left -= sum(min(0.9 * stage.cost.seconds * pace(stage.kind), now - start) for stage, start in running)
        return left / max(1, min(self.jobs, len(ahead)))

    def _pace(self) -> Callable[[str], float]:
        """How many seconds a stage of a kind takes for a cost of 1."""
        taken = dict(self.taken)

        def mean(finished: Iterable[tuple[float, float]], expected: float, trust: float) -> float:
            seconds, costs = map(sum, zip((trust * expected, trust), *finished, strict=True))
            return seconds / costs

        of_all = mean(taken.values(), self.first_pace, TRUST)
        return lambda kind: mean([taken[kind]] if kind in taken else [], of_all, TRUST_OF_KIND)

    def line(self) -> str:
        """What is going on now."""
        now = self.clock()
        running = ", ".join(f"{name} {_duration(now - start)}" for name, (_, start) in list(self.running.items()))
        left = f"{_duration(now - self.begin)} so far, about {_duration(self.seconds_left())} left"
        return f"[{self.n_done}/{self.n_stages} done] {left}: {running}"


def _duration(seconds: float) -> str:
    """
    >>> _duration(75), _duration(3 * 3600 + 62)
    ('1:15', '3:01:02')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
