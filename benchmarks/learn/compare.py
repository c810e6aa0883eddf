"""Time to a given held-out error and objective, and memory, of every contender in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.learn.contenders import contenders
from benchmarks.learn.data import Data

Results = list[dict[str, Any]]


def measure(data: Data, threads: int, max_seconds: float, only: str = "") -> Results:
    """Run the contenders whose name contains `only`, each in its own process."""
    results: Results = []
    with tempfile.TemporaryDirectory() as folder:
        train, held_out = data.split()
        train.save(Path(folder) / "train")
        held_out.save(Path(folder) / "held_out")
        for contender in contenders():
            if only not in contender.name:
                continue
            command = [sys.executable, "-m", "benchmarks.learn.worker", folder, contender.name]
            done = subprocess.run(
                [*command, str(threads), str(max_seconds)],
                stdout=subprocess.PIPE,
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
                check=False,
            )
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
            results += lines
            best = min((line["error"] for line in lines), default=float("nan"))
            print(f"{contender.name}: {100 * best:.2f} % at best", file=sys.stderr)
    return results


def summarise(results: Results, error: float | None = None, slack: float = 0.01) -> str:
    """A table: seconds to the target error and to within `slack` of the best objective, and the memory added."""
    logistic = [r["error"] for r in results if r["objective"] is not None]
    target = error if error is not None else min(logistic or [r["error"] for r in results]) + 0.003
    kinds = {c.name: c.objective for c in contenders()}
    best = {}
    for r in results:
        if r["objective"] is not None:
            kind = kinds[r["name"]]
            best[kind] = min(best.get(kind, float("inf")), r["objective"])
    lines = [
        f"target error {100 * target:.2f} %, target objective {1 + slack:g} × the best",
        f"{'':38}{'best error':>11}{'s to error':>11}{'s to obj.':>11}{'MiB':>7}",
    ]
    for name in dict.fromkeys(r["name"] for r in results):
        mine = [r for r in results if r["name"] == name]
        to_error = min((r["seconds"] for r in mine if r["error"] <= target), default=None)
        goal = best.get(kinds[name], 0.0) * (1 + slack)
        to_objective = min(
            (r["seconds"] for r in mine if r["objective"] is not None and r["objective"] <= goal), default=None
        )
        cells = [f"{s:11.2f}" if s is not None else f"{'—':>11}" for s in (to_error, to_objective)]
        lowest = 100 * min(r["error"] for r in mine)
        lines.append(f"{name:38}{lowest:10.2f}%{cells[0]}{cells[1]}{max(r['added_mib'] for r in mine):7.0f}")
    return "\n".join(lines)
