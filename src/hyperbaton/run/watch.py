"""Watch a run: which stages are running, what is done, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from hyperbaton.base.counted import counted
from hyperbaton.run.execution import MachineLimits, Observer
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Stage

# The cost of finished stages at which they weigh as much as the prior estimate: for all kinds, and for one kind.
TRUST, TRUST_OF_KIND = 50.0, 5.0
# Seconds of running stages that count as much as the expected share of the processors, and the half-life of what was
# observed, since the load of the machine changes.
TRUST_OF_SHARE, HALF_LIFE = 2.0, 60.0


class Watch(Observer):
    """Prints a line when a stage ends and, if `line` is not displayed, when one starts; `line` shows the current state.

    Costs are in processor seconds of another machine and other text. The number of processor seconds per unit of cost is
    at first the slowness of this machine, and is learned from the finished stages of this run, mainly those of the same
    kind; the time that a stage waits for a processor second is learned from running stages, too.
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
        self.slowness = plan.slowness
        self.n_stages, self.n_done = len(plan), len(plan) - len(self.ahead)
        self.running: dict[str, tuple[Stage, float]] = {}  # and when each started
        self.jobs = limits.jobs
        self.first_wait = limits.jobs / limits.threads  # seconds for a processor second: threads are shared
        self.taken: dict[str, Ratio] = {}  # by kind: processor seconds that stages took, and their cost
        self.waited: Ratio = 0.0, 0.0  # seconds of finished stages, and their processor seconds; older ones count less
        self.processor_seconds: dict[str, float] = {}  # of running stages, if the system reports it
        self.begin = clock()

    def started(self, stage: Stage) -> None:
        self.running[stage.name] = stage, self.clock()
        if self.says_starts:
            self.say(f"[{self.n_done}/{self.n_stages}] {stage.name} started")

    def used(self, stage: Stage, processor_seconds: float) -> None:
        self.processor_seconds[stage.name] = processor_seconds

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self._leave(stage)
        self.n_done += 1
        record = stage.record(self.root)
        mib, used = record["peak_mib"], record["cpu_seconds"]
        self.taken[stage.kind] = _sum(self.taken.get(stage.kind, NONE), (used, stage.cost.seconds))
        decay = 0.5 ** (seconds / HALF_LIFE)
        self.waited = _sum((decay * self.waited[0], decay * self.waited[1]), (seconds, used))
        took = f"{seconds:.1f} s, {mib:.0f} MiB, {counted(threads, 'thread')}"
        self.say(f"[{self.n_done}/{self.n_stages}] {stage.name}: {took}")

    def failed(self, stage: Stage, reason: str) -> None:
        self._leave(stage)
        self.say(f"{stage.name} failed: {reason}")

    def _leave(self, stage: Stage) -> None:
        for stages in (self.running, self.processor_seconds, self.ahead):
            stages.pop(stage.name, None)

    def seconds_left(self) -> float:
        """An estimate of the time until all stages are done."""
        # The line is drawn by a different thread from the one that starts and ends stages: use copies.
        now, ahead, running = self.clock(), list(self.ahead.values()), list(self.running.values())
        processor_seconds = dict(self.processor_seconds)
        used = [(now - start, processor_seconds[s.name]) for s, start in running if s.name in processor_seconds]
        wait = _mean(self.first_wait, TRUST_OF_SHARE, self.waited, *used)
        taken = dict(self.taken)
        of_all = _mean(self.slowness, TRUST, *taken.values())

        def expected(stage: Stage) -> float:
            return wait * stage.cost.seconds * _mean(of_all, TRUST_OF_KIND, taken.get(stage.kind, NONE))

        left = sum(map(expected, ahead))
        # A stage that takes longer than expected is taken to be near its end, not past it.
        left -= sum(min(0.9 * expected(stage), now - start) for stage, start in running)
        return left / max(1, min(self.jobs, len(ahead)))

    def line(self) -> str:
        """The current state."""
        now = self.clock()
        running = ", ".join(f"{name} {_duration(now - start)}" for name, (_, start) in list(self.running.items()))
        left = f"{_duration(now - self.begin)} so far, about {_duration(self.seconds_left())} left"
        return f"[{self.n_done}/{self.n_stages} done] {left}: {running}"


Ratio = tuple[float, float]  # sums above and below the line
NONE: Ratio = 0.0, 0.0


def _sum(*ratios: Ratio) -> Ratio:
    return sum(above for above, _ in ratios), sum(below for _, below in ratios)


def _mean(expected: float, trust: float, *ratios: Ratio) -> float:
    """The ratio of sums, in which the expected ratio has the weight `trust`."""
    above, below = _sum((trust * expected, trust), *ratios)
    return above / below


def _duration(seconds: float) -> str:
    """
    >>> _duration(75), _duration(3 * 3600 + 62)
    ('1:15', '3:01:02')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
