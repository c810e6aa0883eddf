"""Watch a run: which stages run now, what is done, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from hyperbaton.run.execute import Limits, Observer
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Stage

TRUST = 20.0  # seconds of this run that count as much as what was measured elsewhere


class Watch(Observer):
    """Says a line when a stage ends, and when one starts if nobody looks at `line`, which says what is going on now.

    Costs are in processor seconds of another machine. How many of them pass in a second here is first taken to be the
    number of threads, and is corrected by what the stages of this run took.
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
        self.ahead = {stage.name: stage.cost.seconds for stage in plan if not stage.is_done(root)}
        self.n_stages, self.n_done = len(plan), len(plan) - len(self.ahead)
        self.running: dict[str, tuple[Stage, float]] = {}  # and when each started
        self.speed = float(limits.threads)
        self.past = 0.0  # cost of what this run did
        self.begin = clock()

    def started(self, stage: Stage) -> None:
        self.running[stage.name] = stage, self.clock()
        if self.says_starts:
            self.say(f"[{self.n_done}/{self.n_stages}] {stage.name} started")

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        self._leave(stage)
        self.n_done += 1
        mib = stage.told(self.root)["peak_mib"]
        self.say(f"[{self.n_done}/{self.n_stages}] {stage.name}: {seconds:.1f} s, {mib:.0f} MiB, {threads} threads")

    def failed(self, stage: Stage, reason: str) -> None:
        self._leave(stage)
        self.say(f"{stage.name} failed: {reason}")

    def _leave(self, stage: Stage) -> None:
        self.running.pop(stage.name, None)
        self.past += self.ahead.pop(stage.name, 0)

    def seconds_left(self) -> float:
        """An estimate of the time until all stages are done."""
        # The line is drawn by another thread than the one that stages start and end in: look at copies.
        now, running = self.clock(), list(self.running.values())
        share = self.speed / max(1, len(running))
        # A stage that takes longer than expected is taken to be near its end, not past it.
        begun = sum(min(0.9 * stage.cost.seconds, share * (now - start)) for stage, start in running)
        speed = (TRUST * self.speed + self.past + begun) / (TRUST + now - self.begin)
        return max(0.0, sum(list(self.ahead.values())) - begun) / speed

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
