"""Signals to a real process in the middle of long work: one line, the right status, no child, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hyperbaton.data import generate
from hyperbaton.decode import System
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import PhraseTable, extract
from tests.clocks import PATIENCE, wait_for

PROGRAM = ("-m", "hyperbaton")


def start(
    *arguments: object, cwd: Path, program: Sequence[str] = PROGRAM, listen: Callable[[], object] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listen or _listen,
    )


def _listen() -> None:
    """The test runner may ignore some signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system, and a sentence whose translation takes a minute without a distortion limit."""
    folder = tmp_path_factory.mktemp("system")
    bitext = generate(400, seed=2).bitext
    table = PhraseTable.build(bitext, extract(bitext, max_length=7))
    System.of(table, {"LM0": LanguageModel.estimate(bitext.target, order=3)}).save(folder / "system")
    words = [word for line in bitext.source for word in line]
    (folder / "long").write_text(" ".join(words[:1500]) + "\n", encoding="utf-8")
    return folder


CUBE, REFINE = (["--search", name] for name in ("cube", "refine"))
STACK = ["--search", "stack", "--nbest", "100", "--threads", "2"]


# Says when it is in the middle of its search, and at its end the processor time used before and after the signal.
SEARCHING = """
import atexit, os, signal, threading, time
from hyperbaton.__main__ import main

started = time.process_time()
sum(i * i for i in range(200_000))
unit = time.process_time() - started  # about 10 ms, more on a slow machine
heard, hears = os.pipe()
os.set_blocking(hears, False)
signal.set_wakeup_fd(hears)  # told at once, whatever the main thread does
at_signal = []

def watch():
    while time.process_time() < 150 * unit:
        time.sleep(0.01)
    print("searching", flush=True)
    os.read(heard, 1)
    at_signal.append(time.process_time())

def report():
    end = time.process_time()
    (before,) = at_signal or [end]
    print(before, end - before, flush=True)

atexit.register(report)
threading.Thread(target=watch, daemon=True).start()
main()
"""


@pytest.mark.parametrize(
    ("number", "status", "message", "flags"),
    [
        (signal.SIGINT, 130, "interrupted", CUBE),
        (signal.SIGTERM, 143, "terminated (SIGTERM)", STACK),
        (signal.SIGHUP, 129, "terminated: the terminal was closed (SIGHUP)", CUBE),
        (signal.SIGINT, 130, "interrupted", REFINE),
    ],
)
def test_inside_one_search(system: Path, number: signal.Signals, status: int, message: str, flags: list[str]) -> None:
    limits = ["--max-words", 2000, "--distortion-limit", -1]
    with start("translate", "system", "long", "-q", *limits, *flags, cwd=system, program=["-c", SEARCHING]) as process:
        assert process.stdout is not None and process.stdout.readline() == "searching\n"
        process.send_signal(number)
        output, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (status, f"hyperbaton: {message}\n")
    before, after = map(float, output.split())
    assert after < 4 * before, "it went on searching"  # the whole search takes forty times as long


STAND_IN = """
import json, os, subprocess, sys, time
from pathlib import Path
folder = Path(json.loads(sys.stdin.readline())["folder"])
folder.with_name(f"{folder.name}.{os.getpid()}-0badcafe.incomplete").mkdir()
sleep = subprocess.Popen(["sleep", "300"])
Path("pids").write_text(f"{os.getpid()} {sleep.pid}")
time.sleep(300)
"""
RUN = """
import subprocess, sys
from pathlib import Path
from hyperbaton.base.signals import Signals
from hyperbaton.run.execution import execute
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import Stage
start = subprocess.Popen
subprocess.Popen = lambda command, **how: start([sys.executable, "stand_in.py"], **how)
signals = Signals()
signals.interrupt()
plan = Plan.__new__(Plan)
plan.stages = {"wait": Stage("wait", "lm")}
try:
    execute(plan, Path("root"))
except KeyboardInterrupt:
    sys.exit(signals.status)
"""


def test_a_run_ends_its_stages_and_what_they_started(tmp_path: Path) -> None:
    """Replace a stage by a process that starts another one and waits."""
    (tmp_path / "stand_in.py").write_text(STAND_IN, encoding="utf-8")
    pids = tmp_path / "pids"
    with subprocess.Popen([sys.executable, "-c", RUN], cwd=tmp_path, preexec_fn=_listen) as process:
        wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 143
    for pid in map(int, pids.read_text().split()):
        wait_for(lambda pid=pid: not _runs(pid))  # type: ignore[misc]
    assert not list((tmp_path / "root" / "stages").iterdir())


def _runs(pid: int) -> bool:
    """Whether a process runs; one that has ended may still be listed."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return sys.platform != "linux"


def test_ignored_signals_stay_ignored(system: Path) -> None:
    """nohup: the terminal may be closed."""
    command = ["translate", "system", "-", "-q", "--unbuffered"]
    with start(*command, cwd=system, listen=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("a\n")
        process.stdin.flush()
        assert process.stdout.readline()  # it has started
        process.send_signal(signal.SIGHUP)
        output, error = process.communicate("a\n", timeout=PATIENCE)
    assert (process.returncode, len(output.splitlines()), error) == (0, 1, "")
