"""Code shared by the benchmarks: timing of work in a separate process, so that its peak memory is measured separately."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any


def existing(path: str) -> str:
    """The type of an argument that names a file or folder; the program ends if there is none."""
    if not Path(path).exists():
        raise SystemExit(f"{path}: no such file or folder")
    return path


def existing_path(path: str) -> Path:
    """An existing file or folder as a path."""
    return Path(existing(path))


def alone(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Call `work` in a new process; return its result, with `seconds` (unless it has them) and `peak_mib` added."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(there, work, arguments))
    process.start()
    there.close()
    try:
        answer: dict[str, Any] = here.recv()
    except EOFError:
        answer = {}
    process.join()
    if process.exitcode:
        raise SystemExit(f"{work.__name__}{arguments} failed")
    return answer


def _child(pipe: Any, work: Callable[..., dict[str, Any]], arguments: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    answer = work(*arguments)
    answer.setdefault("seconds", time.perf_counter() - start)
    scale = 2**20 if sys.platform == "darwin" else 2**10
    answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    pipe.send(answer)


def cost_of(command: list[str]) -> tuple[float, float]:
    """Processor seconds and MiB of a command."""
    streams = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=streams)
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def print_rows(rows: Iterable[dict[str, Any]]) -> None:
    """A tab-separated table, whose rows are printed as they come."""
    columns: list[str] = []
    for row in rows:
        if not columns:
            columns = list(row)
            print("\t".join(columns))
        print("\t".join(f"{row[c]:.4g}" if isinstance(row[c], float) else str(row[c]) for c in columns), flush=True)


def print_growth(measured: Iterable[dict[str, Any]], unit: str) -> None:
    """Costs by size, with processor microseconds per `unit` (a column), also relative to the first size."""

    def rows() -> Iterator[dict[str, Any]]:
        first = None
        for row in measured:
            each = 1e6 * row["processor_s"] / row[unit]
            first = first or each
            yield {**row, "us_each": each, "relative": each / first}

    print_rows(rows())


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))
