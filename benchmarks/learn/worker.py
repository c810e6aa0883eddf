"""Measure one learner in a separate process, for its peak memory: one JSON line for each effort."""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks._measure import existing
from benchmarks.learn.contenders import contenders, held_out_error
from benchmarks.learn.data import Data
from hyperbaton import _core
from hyperbaton.learn._matrices import delta_matrix
from hyperbaton.learn._rows import core_rows


def forget_peak() -> None:
    """Reset the peak memory if the system can (Linux), so that imports do not hide the memory of the fit."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mib() -> float:
    """The peak memory of this process since `forget_peak`."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def objective(name: str, weights: np.ndarray, train: Data, variance: float) -> float:
    """‖W‖²/(2σ²) + Σ loss, with σ² = C."""
    rows = core_rows([train.rows], constant=True, unit_length=False)
    delta = delta_matrix("uniform", train.n_classes)
    weights = np.ascontiguousarray(weights)
    loss, _ = _core.linear_loss(name, rows, train.labels, weights, matrix=delta, log_prior=None, n_threads=1)
    return float((weights**2).sum() / (2 * variance) + loss)


def main(folder: str, name: str, threads: str, max_seconds: str, variance: str) -> None:
    """Fit with increasing effort until the next fit would not end in time, or the result does not change."""
    contender = next(c for c in contenders(float(variance)) if c.name == name)
    train, held_out = Data.load(Path(folder) / "train"), Data.load(Path(folder) / "held_out")
    prepared = contender.prepare(train)
    forget_peak()
    before, last, start = peak_mib(), None, time.perf_counter()
    for effort in range(12):
        wall, cpu = time.perf_counter(), time.process_time()
        weights = contender.fit(prepared, effort, int(threads))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        # On one thread the processor's time says the same as a clock on a quiet machine, and does not mind a busy one.
        seconds = cpu if int(threads) == 1 else wall
        # Two classes can come as one column.
        if weights.shape[1] == 1:
            weights = np.hstack([-weights / 2, weights / 2])
        result = {
            "name": name,
            "effort": effort,
            "seconds": seconds,
            "wall_seconds": wall,
            "error": held_out_error(weights, held_out),
            "added_mib": peak_mib() - before,
            "objective": objective(contender.objective, weights, train, float(variance)) if contender.objective else None,
        }
        print(json.dumps(result), flush=True)
        spent = time.perf_counter() - start
        if spent + 2 * wall > float(max_seconds) or (effort > 3 and np.array_equal(last, weights)):
            break
        last = weights


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=existing)
    for word in ("name", "threads", "max_seconds", "variance"):
        parser.add_argument(word)
    main(**vars(parser.parse_args()))
