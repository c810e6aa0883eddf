"""Run the stages of plans: each in its own process, several at once if memory allows, none twice.

The outputs of stages depend neither on how many run at once nor on the number of threads. Stages shared by several plans
run once. The folder of a run is locked while anything works in it, including the processes of the stages.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.base.progress import default_threads
from hyperbaton.base.writing import remove_leftovers
from hyperbaton.run.stage import Stage

PATIENCE = 10.0  # seconds to wait for the processes of a run that was killed
POLL = 0.05
LOOK = 1.0  # seconds between two readings of the processor time of running stages
LITTLE = 1 << 16  # free bytes at which a disk counts as full


class StageFailed(HyperbatonError):
    """A stage failed; the message contains the reason."""


@dataclass(frozen=True)
class MachineLimits:
    """How much of the machine may be used, and which executor runs the stages.

    With an executor, stages are its tasks, or distribute their work; `threads` then applies to each task.
    """

    jobs: int = 2
    threads: int = field(default_factory=default_threads)
    memory: int | None = None  # bytes of all stages together
    executor: str | None = None

    @property
    def memory_mib(self) -> float:
        """The memory for all stages together, by their estimated needs: 80% of the machine's if there is no limit."""
        everything = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return (0.8 * everything if self.memory is None else self.memory) / 2**20


class Observer:
    """Receives the events of a run; this one ignores them."""

    def started(self, stage: Stage) -> None:
        """A stage has started."""

    def used(self, stage: Stage, processor_seconds: float) -> None:
        """A running stage has used this much so far; called about once a second if the system reports it."""

    def finished(self, stage: Stage, seconds: float, threads: int) -> None:
        """A stage has finished."""

    def failed(self, stage: Stage, reason: str) -> None:
        """A stage has failed."""


@dataclass
class _Running:
    stage: Stage
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    threads: int
    started: float


def execute(
    stages: Iterable[Stage], root: Path, limits: MachineLimits | None = None, observer: Observer | None = None
) -> None:
    """Run all unfinished stages of one or more plans; those that come first are started first.

    If one fails, those that do not depend on it still run before the failure is reported.
    """
    with locked(root) as lock:
        _Executor(stages, root, limits or MachineLimits(), observer or Observer(), lock).run()


class _Executor:
    """Runs stages, identified by the names of their folders, since stages of different plans may have the same name."""

    def __init__(self, stages: Iterable[Stage], root: Path, limits: MachineLimits, observer: Observer, lock: int) -> None:
        self.root, self.limits, self.observer, self.lock = root, limits, observer, lock
        self.stages = {stage.folder_name: stage for stage in stages}
        self.done = {name for name, stage in self.stages.items() if stage.is_done(root)}
        self.waiting = [stage for name, stage in self.stages.items() if name not in self.done]
        self.running: list[_Running] = []
        self.failed: dict[str, str] = {}
        self.looked = time.monotonic()
        self.one_plan = len({stage.name for stage in self.stages.values()}) == len(self.stages)

    def run(self) -> None:
        (self.root / "logs").mkdir(parents=True, exist_ok=True)
        (self.root / "stages").mkdir(exist_ok=True)
        try:
            while self.waiting or self.running:
                self._start_what_fits()
                if not self.running:
                    break  # all remaining stages depend on a failed one
                time.sleep(POLL)
                self._collect()
                self._look()
        finally:
            self._stop()
        if self.failed:
            first, *others = [stage for name, stage in self.stages.items() if name in self.failed]
            more = f" (and {len(others)} more: {', '.join(stage.name for stage in others)})" if others else ""
            reason = self.failed[first.folder_name]
            raise StageFailed(f"stage {first.name} failed: {reason}; its log is {self._log(first)}{more}")

    def _start_what_fits(self) -> None:
        limits = self.limits
        for stage in [s for s in self.waiting if s.needs <= self.done]:
            if len(self.running) >= limits.jobs:
                return
            if limits.executor is not None:  # neither memory nor threads of this machine are shared
                self._start(stage, limits.threads, limits.memory)
            elif not self.running or self._mib() + stage.cost.mib <= limits.memory_mib:
                n_together = self._n_together(stage)
                share = 1 if not self.running and n_together == 1 else limits.jobs
                memory = None if limits.memory is None else limits.memory // share
                free = limits.threads - sum(r.threads for r in self.running)
                self._start(stage, max(1, free // n_together), memory)

    def _mib(self) -> float:
        return sum(r.stage.cost.mib for r in self.running)

    def _n_together(self, stage: Stage) -> int:
        """How many of the ready stages could start now, including this one: they share the free threads."""
        mib, n, most = self._mib() + stage.cost.mib, 1, self.limits.jobs - len(self.running)
        for other in (s for s in self.waiting if s is not stage and s.needs <= self.done):
            if n < most and mib + other.cost.mib <= self.limits.memory_mib:
                mib, n = mib + other.cost.mib, n + 1
        return n

    def _start(self, stage: Stage, threads: int, memory: int | None) -> None:
        self.waiting.remove(stage)
        log = self._log(stage).open("wb")
        environment = dict(os.environ)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment.setdefault(name, str(threads))
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hyperbaton.run.child"],  # nothing is imported from the current folder
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=(self.lock,),
            process_group=0,  # so that its child processes end with it
            env=environment,
        )
        self.running.append(_Running(stage, process, log, threads, time.monotonic()))
        if process.stdin is None:
            raise StageFailed("the process of a stage has no stdin")
        with suppress(BrokenPipeError):  # if it has already ended, its log says why
            order = stage.order(self.root, threads, memory, self.limits.executor)
            process.stdin.write((json.dumps(order) + "\n").encode())
            process.stdin.flush()
        self.observer.started(stage)

    def _collect(self) -> None:
        for running in list(self.running):
            status = running.process.poll()
            if status is None:
                continue
            self.running.remove(running)
            self._close(running)
            stage, seconds = running.stage, time.monotonic() - running.started
            if status == 0 and stage.is_done(self.root):
                self.done.add(stage.folder_name)
                self.observer.finished(stage, seconds, running.threads)
            else:
                self.failed[stage.folder_name] = self._reason(stage, status)
                self.observer.failed(stage, self.failed[stage.folder_name])

    def _look(self) -> None:
        """Report the processor time used so far by the running stages."""
        if time.monotonic() < self.looked + LOOK:
            return
        self.looked = time.monotonic()
        for running in self.running if self.limits.executor is None else ():  # elsewhere it is used by other processes
            if (used := _processor_seconds(running.process.pid)) is not None:
                self.observer.used(running.stage, used)

    def _reason(self, stage: Stage, status: int) -> str:
        if status < 0:
            return f"its process was ended by signal {-status}" + (" (out of memory?)" if status == -9 else "")
        lines = self._log(stage).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if not lines and shutil.disk_usage(self.root).free < LITTLE:
            return "No space left on device"  # not even for its log
        return lines[-1] if lines else f"its process ended with status {status}"

    def _stop(self) -> None:
        """End the running stages with all their child processes; remove their incomplete outputs."""
        for running in self.running:
            _signal_group(running.process, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        for running in self.running:
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(max(0.0, deadline - time.monotonic()))
            _signal_group(running.process, signal.SIGKILL)
            running.process.wait()
            self._close(running)
            remove_leftovers(running.stage.folder(self.root))
        self.running.clear()

    def _close(self, running: _Running) -> None:
        running.log.close()
        if running.process.stdin is not None:
            with suppress(BrokenPipeError):
                running.process.stdin.close()

    def _log(self, stage: Stage) -> Path:
        return self.root / "logs" / f"{stage.name if self.one_plan else stage.folder_name}.log"


def _processor_seconds(process: int) -> float | None:
    """The processor time of a process and its finished children; None if the system has no /proc."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # no process of the group is left
        os.killpg(process.pid, number)


@contextmanager
def locked(root: Path) -> Iterator[int]:
    """Lock the folder of a run for this process; yields the file descriptor that its children inherit."""
    root.mkdir(parents=True, exist_ok=True)
    lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise HyperbatonError(
                        f"{root}: another run is active here; wait for it, or choose another folder"
                    ) from None
                time.sleep(0.1)
        yield lock
    finally:
        os.close(lock)
