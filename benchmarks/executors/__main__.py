"""Cost of an executor's tasks, and the size from which shards pay off.

    python -m benchmarks.executors dask://127.0.0.1:8786 --tasks 2000
    python -m benchmarks.executors processes:2 --align train.zh train.en --shards 32

Prints the time of an empty task, sent one by one and all at once. With --align, an aligner is trained on the texts and
links them in this process, in one shard and in several: prints pairs per processor second, the cost of an additional shard,
and how fast the driver alone cuts the texts into shards.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from hyperbaton.align import Aligner
from hyperbaton.align.shards import align_shards
from hyperbaton.base.executors import Sharding, do_shards, open_executor
from hyperbaton.corpus import Bitext


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long it takes."""
    begin = clock()
    work()
    return clock() - begin


def measure_tasks(address: str, n: int) -> None:
    """The cost of tasks that do nothing."""
    with open_executor(address) as executor:
        print(f"connect and first task\t{seconds(lambda: list(do_shards(executor, max, 0, 1))):.2f} s")
        alone = seconds(lambda: [list(do_shards(executor, max, 0, 1)) for _ in range(100)])
        print(f"a task, alone\t{1000 * alone / 100:.2f} ms")
        together = seconds(lambda: list(do_shards(executor, max, 0, n)))
        print(f"a task, of {n} sent at once\t{1000 * together / n:.2f} ms")


class _CutError(Exception):
    """Raised when the texts are cut."""


class _Stop(Executor):
    """Stops at the first task."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        raise _CutError


def measure_shards(source: str, target: str, shards: int) -> None:
    """The cost of linking a bitext in shards."""
    bitext = Bitext.read(source, target, empty=True)
    aligner = Aligner().fit(bitext)

    def link(n: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            list(align_shards(aligner, source, target, sharding=Sharding(Path(folder), n)))

    def cut() -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(_CutError):
            list(align_shards(aligner, source, target, sharding=Sharding(Path(folder), shards, _Stop())))

    one, several = (seconds(lambda n=n: link(n), time.process_time) for n in (1, shards))  # type: ignore[misc]
    words = " and ".join(f"{side.n_tokens / len(bitext):.1f}" for side in (bitext.source, bitext.target))
    print(f"pairs\t{len(bitext)}, of {words} words")
    print(f"pairs linked in a processor second\t{len(bitext) / one:.0f}")
    print(f"pairs cut into shards in a processor second\t{len(bitext) / seconds(cut, time.process_time):.0f}")
    print(f"a further shard\t{1000 * (several - one) / (shards - 1):.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="dask://HOST:PORT or processes:N")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--align", nargs=2, metavar=("SRC", "TGT"))
    parser.add_argument("--shards", type=int, default=16)
    arguments = parser.parse_args()
    measure_tasks(arguments.address, arguments.tasks)
    if arguments.align:
        measure_shards(*arguments.align, arguments.shards)


if __name__ == "__main__":
    main()
