"""What tasks of an executor cost, and from which size shards pay.

    python -m benchmarks.executors dask://127.0.0.1:8786 --tasks 2000
    python -m benchmarks.executors processes:2 --align train.zh train.en --shards 32

Prints the time of an empty task, sent one by one and all at once. With --align, an aligner learns from the texts, and links
them in this process, in one shard and in several: pairs per processor second, and what a further shard costs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hyperbaton.align import Aligner
from hyperbaton.align.shards import align_shards
from hyperbaton.base.executors import do_shards, open_executor
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


def measure_shards(source: str, target: str, shards: int) -> None:
    """The cost of shards of a bitext that is linked."""
    bitext = Bitext.read(source, target, empty=True)
    aligner = Aligner().fit(bitext)

    def link(n: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            list(align_shards(aligner, source, target, folder=Path(folder), shards=n))

    one, several = (seconds(lambda n=n: link(n), time.process_time) for n in (1, shards))  # type: ignore[misc]
    print(f"pairs a processor second\t{len(bitext) / one:.0f}")
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
