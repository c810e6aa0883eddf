"""Cost of an executor's tasks, and how fast the parts of distributed work are done.

    python -m benchmarks.executors dask://127.0.0.1:8786 --tasks 2000
    python -m benchmarks.executors processes:2 --text train.zh train.en train.links

Prints the time of an empty task, sent one by one and all at once. With --text, prints sentence pairs per processor second
of each step of linking and extraction, by one thread: what workers do, and what the driver does.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from hyperbaton.align import Aligner
from hyperbaton.align.linking import PART, LinkOutputs
from hyperbaton.align.pair_text import PairText
from hyperbaton.base.executors import open_executor
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Workers
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import extract_phrases

T = TypeVar("T")


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long it takes."""
    begin = clock()
    work()
    return clock() - begin


def measure_tasks(address: str, n: int) -> None:
    """The cost of tasks that do nothing."""
    with open_executor(address) as executor:
        workers = Workers(executor)
        print(f"connect and first task\t{seconds(lambda: list(workers.map(abs, [0]))):.2f} s")
        alone = seconds(lambda: [list(workers.map(abs, [0])) for _ in range(100)])
        print(f"a task, alone\t{1000 * alone / 100:.2f} ms")
        together = seconds(lambda: list(workers.map(abs, range(n))))
        print(f"a task, of {n} sent at once\t{1000 * together / n:.2f} ms")


class Clocked(Workers):
    """Workers of this process, which add up the processor time of tasks; the files of tasks are written and read."""

    spent = 0.0

    def map(self, task: Callable[[object], T], parts: Iterable[object]) -> Iterable[T]:  # type: ignore[override]
        for part in parts:
            begin = time.process_time()
            result = task(part)
            Clocked.spent += time.process_time() - begin
            yield result


def measure_text(source: str, target: str, links: str) -> None:
    """The rates of the steps of linking and extraction."""
    bitext = Bitext.read(source, target, links)
    n, words = len(bitext), " and ".join(f"{s.n_tokens / len(bitext):.1f}" for s in (bitext.source, bitext.target))
    print(f"pairs\t{n}, of {words} words")

    def show(step: str, spent: float) -> None:
        print(f"{step}\t{n / spent:,.0f} pairs/s")

    show("train the aligner", seconds(lambda: Aligner().fit(bitext, threads=1), time.process_time))
    aligner = Aligner().fit(bitext, threads=1)
    text = PairText(source, target)
    groups = list(text.groups(PART))
    show(
        "read and send",
        seconds(lambda: [pickle.dumps(g) for g in text.groups(PART)], time.process_time),
    )
    show("link", seconds(lambda: list(LinkOutputs().write(aligner, groups, Resources(1))), time.process_time))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as executor:
        aligner.save(Path(folder) / "aligner", smallest=0)
        print(f"load the aligner\t{1000 * seconds(lambda: Aligner.load(Path(folder) / 'aligner')):.0f} ms")
        resources = Resources(1, workers=Clocked(executor, Path(folder)))
        whole = seconds(lambda: extract_phrases(bitext, resources=resources), time.process_time)
    show("extract: tasks", Clocked.spent)
    show("extract: driver", whole - Clocked.spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="dask://HOST:PORT or processes:N")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--text", nargs=3, metavar=("SRC", "TGT", "LINKS"))
    arguments = parser.parse_args()
    measure_tasks(arguments.address, arguments.tasks)
    if arguments.text:
        measure_text(*arguments.text)


if __name__ == "__main__":
    main()
