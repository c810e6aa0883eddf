"""Watch a run: which stages are running, what is done, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hyperbaton.base.counted import counted
from hyperbaton.run.execution import Limits, Observer
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Stage

# # The cost of finished stages at which they weigh as much as the prior estimate: for all kinds, and for one kind.
TRUST, TRUST_OF_KIND = 200.0, 10.0


class Watch(Observer):
    """Prints a line when a stage ends and, if `line` is not displayed, when one starts; `line` shows the current state.

    Costs are in processor seconds of another machine and other text. The ratio of time to cost is learned from the stages
    of this run, mainly those of the same kind.
    """

    def __init__(
        self,
        plan: Plan,
        root: Path,
        limits: Limits,
        say: Callable[[str], None],
        says_starts: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root, self.say, self.says_starts, self.clock = root, say, says_starts, clock
        self.ahead = {stage.name: stage for stage in plan if not stage.is_done(root)}
        self.n_stages, self.n_done = len(plan), len(plan) - len(self.ahead)
        self.running: dict[str, tuple[Stage, float]] = {}  # and when each started
        self.jobs = limits.jobs
        self.first_pace = limits.jobs / limits.threads  # seconds per unit of cost: threads are shared
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
        # # The line is drawn by a different thread from the one that starts and ends stages: use copies.
        now, ahead, running = self.clock(), list(self.ahead.values()), list(self.running.values())
        pace = self._pace()
        left = sum(stage.cost.seconds * pace(stage.kind) for stage in ahead)
        # # A stage that takes longer than expected is assumed to be near its end, not past it.
        left -= sum(min(0.9 * stage.cost.seconds * pace(stage.kind), now - start) for stage, start in running)
        return left / max(1, min(self.jobs, len(ahead)))

    def _pace(self) -> Callable[[str], float]:
        """The number of seconds per unit of cost for a kind of stage."""
        taken = dict(self.taken)

        def mean(finished: Iterable[tuple[float, float]], expected: float, trust: float) -> float:
            seconds, costs = map(sum, zip((trust * expected, trust), *finished, strict=True))
            return seconds / costs

        of_all = mean(taken.values(), self.first_pace, TRUST)
        return lambda kind: mean([taken[kind]] if kind in taken else [], of_all, TRUST_OF_KIND)

    def line(self) -> str:
        """The current state."""
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
