"""Time to reach a given held-out error and objective, and memory, of every learner in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.learn.contenders import contenders
from benchmarks.learn.data import Data

Results = list[dict[str, Any]]


def measure(data: Data, threads: int, max_seconds: float, variance: float = 1.0, only: Sequence[str] = ("",)) -> Results:
    """Run the learners whose name contains one of `only`, each in a separate process and for about `max_seconds`."""
    results: Results = []
    with tempfile.TemporaryDirectory() as folder:
        train, held_out = data.split()
        train.save(Path(folder) / "train")
        held_out.save(Path(folder) / "held_out")
        for contender in contenders():
            if not any(part in contender.name for part in only):
                continue
            command = [sys.executable, "-m", "benchmarks.learn.worker", folder, contender.name]
            output = _output([*command, str(threads), str(max_seconds), str(variance)], threads, 2 * max_seconds + 30)
            lines = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
            results += lines
            best_error = f"{100 * min(line['error'] for line in lines):.2f} % at best" if lines else "nothing in time"
            print(f"{contender.name}: {best_error}", file=sys.stderr, flush=True)
    return results


def _output(command: list[str], threads: int, seconds: float) -> bytes:
    """The output of a process until it ends or its time is over."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return late.stdout or b""
    return done.stdout


def summarise(results: Results, error: float | None = None) -> str:
    """A table: seconds to the target error, to 1 % and to 0.1 % above the best objective, and the additional memory.

    By default, the target error is that of the logistic model with the best objective plus 0.2 points, since half-trained
    models sometimes have a low held-out error by chance.
    """
    kinds = {c.name: c.objective for c in contenders()}
    best: dict[str, dict[str, Any]] = {}
    for r in results:
        kind = kinds[r["name"]]
        if kind is not None and (kind not in best or r["objective"] < best[kind]["objective"]):
            best[kind] = r
    if error is None:
        error = best["logistic"]["error"] + 0.002 if "logistic" in best else min(r["error"] for r in results)
    lines = [
        f"target error {100 * error:.2f} %; seconds of processor time on one thread",
        f"{'':38}{'best error':>11}{'to error':>10}{'obj. 1 %':>10}{'obj. 0.1 %':>11}{'MiB':>6}",
    ]
    seconds: dict[str, list[float | None]] = {}
    for name in dict.fromkeys(r["name"] for r in results):
        mine = [r for r in results if r["name"] == name]
        cells = [min((r["seconds"] for r in mine if r["error"] <= error), default=None)]
        for slack in (1.01, 1.001):
            goal = best[kinds[name]]["objective"] * slack if kinds[name] in best else None
            cells.append(min((r["seconds"] for r in mine if goal and r["objective"] <= goal), default=None))
        shown = [f"{cell:.2f}" if cell is not None else "—" for cell in cells]
        lowest, memory = 100 * min(r["error"] for r in mine), max(r["added_mib"] for r in mine)
        lines.append(f"{name:38}{lowest:10.2f}%{shown[0]:>10}{shown[1]:>10}{shown[2]:>11}{memory:6.0f}")
        seconds[name] = cells
    return "\n".join([*lines, *_ratios(seconds)])


def _ratios(seconds: dict[str, list[float | None]]) -> list[str]:
    """How many times faster `dual_eg` is than the others that reach the target error."""
    ours = seconds.get("dual_eg ε=0.1", [None])[0]
    if not ours:
        return []
    others = {name: cells[0] for name, cells in seconds.items() if cells[0] is not None and not name.startswith("dual_eg")}
    ratios = [f"{name} {cost / ours:.2f}" for name, cost in sorted(others.items(), key=lambda item: item[1])]
    never = [name for name, cells in seconds.items() if cells[0] is None]
    return [f"seconds to the error over those of dual_eg ε=0.1: {', '.join(ratios)}", f"not reached: {', '.join(never)}"]
