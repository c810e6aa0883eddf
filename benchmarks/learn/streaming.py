"""Global learners on memory-mapped shards larger than their private memory limit.

The shards are files of generated rows. Each learner runs in a process whose private memory is limited before it starts
(RLIMIT_DATA, which counts heap and private pages, but not files mapped for reading), so a learner that copied the rows
would fail. The system can reclaim memory mapped from files at any time.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import alone
from benchmarks.learn.data import generate
from hyperbaton.learn import LEARNERS, Rows

# Learners for all rows at once that keep nothing, or little, for each row.
STREAMERS = ("relative_frequency", "lbfgs", "sgd", "psl", "dual_eg", "gis", "ordinal", "svm")


def write_shards(folder: Path, gib: float, shard_rows: int) -> int:
    """Write shards of rows with 40 features, similar to those of `dpr`, until they fill `gib`; returns their number."""
    n_shards = 0
    size = 0
    data = generate(shard_rows, per_row=40)
    while size < gib * 2**30 or n_shards == 0:
        # Reuse the rows in another order: only the cost is measured, not the trained model.
        order = np.random.default_rng(n_shards).permutation(shard_rows)
        lengths = np.diff(data.rows.indptr)
        starts = np.concatenate([[0], np.cumsum(lengths[order])])
        places = np.repeat(data.rows.indptr[order], lengths[order]) + np.arange(starts[-1])
        places -= np.repeat(starts[:-1], lengths[order])
        for name, array in (("indptr", starts), ("indices", data.rows.indices[places]), ("labels", data.labels[order])):
            np.save(folder / f"{name}-{n_shards}.npy", array)
            size += array.nbytes
        n_shards += 1
    np.save(folder / "n_features.npy", np.array(data.rows.n_features))
    return n_shards


def read_shards(folder: Path, n_shards: int) -> tuple[list[Rows], np.ndarray]:
    """Shards mapped into memory, and all labels."""
    n_features = int(np.load(folder / "n_features.npy"))
    shards = [
        Rows(*(np.load(folder / f"{name}-{s}.npy", mmap_mode="r") for name in ("indptr", "indices")), n_features)
        for s in range(n_shards)
    ]
    return shards, np.concatenate([np.load(folder / f"labels-{s}.npy") for s in range(n_shards)])


def private_mib() -> float:
    """Memory of this process that is not backed by a file (Linux)."""
    return sum(int(line.split()[1]) for line in _status() if line.startswith(("RssAnon", "VmSwap"))) / 2**10


def _status() -> list[str]:
    return Path("/proc/self/status").read_text(encoding="utf-8").splitlines()


def work(folder: str, n_shards: int, name: str, n_passes: int, allowance: float, threads: int) -> dict[str, Any]:
    """Fit one learner with at most `allowance` GiB of private memory in addition to that of Python and its libraries."""
    shards, labels = read_shards(Path(folder), n_shards)
    learner = LEARNERS[name](threads=threads, **({} if name == "relative_frequency" else {"max_passes": n_passes}))
    before = private_mib()
    if sys.platform == "linux":
        used = next(line for line in _status() if line.startswith("VmData")).split()[1]
        limit = int(used) * 2**10 + int(allowance * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start = time.perf_counter()
    most = before

    def progress(done: int, total: int) -> bool:
        nonlocal most
        most = max(most, private_mib())
        return True

    learner.fit(shards, labels, n_classes=3, progress=progress)
    most = max(most, private_mib())
    return {"learner": name, "rows": len(labels), "seconds": time.perf_counter() - start, "private_mib": most - before}


def stream(
    gib: float, allowance: float, threads: int, names: tuple[str, ...] = STREAMERS, shard_rows: int = 100_000
) -> list[dict[str, Any]]:
    """Run two passes of every learner over shards of `gib` in total."""
    with tempfile.TemporaryDirectory() as folder:
        n_shards = write_shards(Path(folder), gib, shard_rows)
        size = sum(file.stat().st_size for file in Path(folder).glob("ind*")) / 2**20
        print(f"{n_shards} shards, {size:.0f} MiB; {1024 * allowance:.0f} MiB allowed", file=sys.stderr)
        return [alone(work, folder, n_shards, name, 2, allowance, threads) for name in names]
