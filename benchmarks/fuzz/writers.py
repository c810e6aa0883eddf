"""Let several processes write one output at the same time, kill some of them, and check the result.

    python -m benchmarks.fuzz.writers --races 500 --seed 1

Each race starts with or without an existing artefact. Two to four writers, some of which are killed at a random moment,
write to one folder and to one pair of files, while a reader opens the folder repeatedly, which must not fail. Then one more
write fails deliberately. Possible results:

    whole      the content of one writer, complete, in the folder and in the pair of files
    mixed      content of several writers; lost: nothing, although there was an artefact before or a writer succeeded;
    litter     any file other than the outputs: never allowed
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from hyperbaton.base import writing
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Artefact, read_artefact, save
from hyperbaton.base.writing import writing_files, writing_folder

NAMES = ("a", "b", "c", "d")
_N_READS = 50


def write(folder: Path, value: int, size: int) -> None:
    """Write all outputs with one value."""
    save(folder / "x", "thing", {name: np.full(size, value) for name in NAMES})
    with writing_files([folder / "f", folder / "g"]) as asides:
        for aside in asides:
            aside.write_text(f"{value}\n" * size)


def read(folder: Path) -> int:
    """Open the artefact repeatedly; returns the number of failures."""
    n_failed = 0
    for _ in range(_N_READS):
        try:
            read_artefact(folder / "x", "thing", Artefact.arrays, content=True)
        except ArtefactError as error:
            print(error, file=sys.stderr, flush=True)
            n_failed += 1
    return n_failed


def in_process(work: Callable[[], int]) -> int:
    """Run a function in a new process, whose id is returned; its exit status is the function's result."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            status = work()
        finally:
            os._exit(status)
    return process


def race(folder: Path, choice: random.Random) -> list[str]:
    """Let writers race for the outputs in an empty folder; returns the faults of the result."""
    before = choice.random() < 0.5
    if before:
        write(folder, 0, 100)
    killed, writers = [], []
    for number in range(1, choice.randint(2, 4) + 1):
        size, killed_after = choice.choice((10, 1000, 20_000)), choice.uniform(0, 0.05) if choice.random() < 0.3 else None
        process = in_process(partial(_write_in_process, folder, number, size))
        writers.append(process)
        if killed_after is not None:
            killed.append((killed_after, process))
    # Where two folders cannot be exchanged, a killed writer may leave none.
    reader = in_process(lambda: read(folder)) if before and (writing._renameat2 or not killed) else None
    started = time.monotonic()
    for after, process in sorted(killed):
        time.sleep(max(0.0, started + after - time.monotonic()))
        os.kill(process, signal.SIGKILL)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in writers]
    faults = [f"a writer failed with {status}" for status in statuses if status not in (0, -signal.SIGKILL)]
    if reader is not None and os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1]):
        faults.append("a reader failed")
    with contextlib.suppress(ZeroDivisionError), writing_folder(folder / "x"), writing_files([folder / "f", folder / "g"]):
        raise ZeroDivisionError
    return faults + _faults(folder, before or 0 in statuses, n_killed=len(killed))


def _write_in_process(folder: Path, number: int, size: int) -> int:
    try:
        write(folder, number, size)
    except ArtefactError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    return 0


def _faults(folder: Path, expected: bool, n_killed: int) -> list[str]:
    faults = []
    try:
        artefact = Artefact(folder / "x", content=True)
        if len({value for name in NAMES for value in artefact[name].tolist()}) != 1:
            faults.append("mixed folder")
    except ArtefactError as error:
        if expected or "no such artefact" not in str(error):
            faults.append(f"lost folder: {error}")
    texts = [(folder / name).read_text() for name in ("f", "g") if (folder / name).exists()]
    if len(texts) == 2 and any(len(set(text.split())) != 1 for text in texts):
        faults.append("mixed file")
    # A writer that is killed between moving the one file and the other leaves both files whole, but of two writers.
    if not n_killed and (len(set(texts)) > 1 or (expected and len(texts) != 2)):
        faults.append("mixed files")
    litter = {path.name for path in folder.iterdir()} - {"x", "f", "g"}
    return faults + [f"litter: {name}" for name in sorted(litter)]


def main() -> int:
    """Print the number of races by result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-exchange", action="store_true", help="as on systems that cannot exchange two folders")
    arguments = parser.parse_args()
    if arguments.no_exchange:
        writing._renameat2 = None
    choice = random.Random(arguments.seed)
    counts: Counter[str] = Counter()
    for _ in range(arguments.races):
        with tempfile.TemporaryDirectory(prefix="hyperbaton-race-") as name:
            faults = race(Path(name), choice)
        counts.update({fault.partition(":")[0] for fault in faults} or {"whole"})
        for fault in faults:
            print(fault, file=sys.stderr)
    for outcome, n in counts.most_common():
        print(f"{outcome}\t{n}")
    return 1 if set(counts) - {"whole"} else 0


if __name__ == "__main__":
    sys.exit(main())
