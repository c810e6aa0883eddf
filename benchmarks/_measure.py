"""Code shared by the benchmarks: timing of work in a separate process, so that its peak memory is measured separately."""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any


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


def print_rows(rows: list[dict[str, Any]]) -> None:
    """A tab-separated table."""
    columns = list(rows[0])
    print("\t".join(columns))
    for row in rows:
        print("\t".join(f"{row[c]:.4g}" if isinstance(row[c], float) else str(row[c]) for c in columns), flush=True)


def print_growth(measured: Iterable[dict[str, Any]], unit: str) -> None:
    """Costs by size, with processor microseconds per `unit` (a column), also relative to the first size."""
    rows: list[dict[str, Any]] = []
    for row in measured:
        each = 1e6 * row["processor_s"] / row[unit]
        rows.append({**row, "us_each": each, "relative": each / (rows[0]["us_each"] if rows else each)})
    print_rows(rows)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))
