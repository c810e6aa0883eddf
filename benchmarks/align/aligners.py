"""Alignment error rate, time and peak memory of the aligners on the same text.

    python -m benchmarks.align.aligners DATA                  error rates on both gold sets, all of the training text
    python -m benchmarks.align.aligners DATA --pairs 30000    the same with less text
    python -m benchmarks.align.aligners DATA --speed 25000 50000 100000

DATA is the corpora folder, with kyoto-ja-en, twlaw-zh-en and gold-links in it. Error rates are measured on gold sentences
placed before the training text, since an aligner without a saved model can link only text that it was trained on. Each
measured run is a separate process, which reads text and writes links. eflomal is included if eflomal-align is installed
(pip install 'hyperbaton[eflomal]'). Times are wall-clock times, and processor times in brackets, which other work on the
machine disturbs less; compare the ratios of one run.
"""

from __future__ import annotations

import argparse
import lzma
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import numpy as np
from benchmarks._measure import existing_path

from hyperbaton.align import evaluate_links, read_links
from hyperbaton.corpus import Links


@dataclass(frozen=True)
class Task:
    """A training text and the hand-made links to score on."""

    name: str
    train: str
    gold: str
    languages: tuple[str, str]
    sure: str
    possible: str | None

    def write(
        self, data: Path, folder: Path, n_pairs: int | None, parts: tuple[str, ...] = ("train",)
    ) -> tuple[list[str], int]:
        """Write the gold sentences followed by the existing parts of the training text.

        Returns the two files and the number of gold sentences.
        """
        files = []
        for language in self.languages:
            gold = (data / self.gold / f"gold.{language}").read_bytes().splitlines(keepends=True)
            file = folder / f"{self.name}.{language}"
            with file.open("wb") as out:
                paths = [data / self.train / f"{part}.{language}.xz" for part in parts]
                text = chain.from_iterable(lines(path) for path in paths if path.exists())
                out.writelines(chain(gold, islice(text, n_pairs)))
            files.append(str(file))
        return files, len(gold)

    def links(self, data: Path) -> tuple[Links, Links | None]:
        """The sure links of the gold sentences, and the possible ones if there are any."""
        folder = data / self.gold
        return read_links(folder / self.sure), None if self.possible is None else read_links(folder / self.possible)


TASKS = {
    task.name: task
    for task in (
        Task("ja-en", "kyoto-ja-en", "gold-links/ja-en-kftt", ("ja", "en"), "gold.links", None),
        Task("zh-en", "twlaw-zh-en", "gold-links/zh-en-tsinghua", ("zh", "en"), "gold.sure.links", "gold.possible.links"),
    )
}


def lines(path: Path) -> Iterator[bytes]:
    with lzma.open(path, "rb") as file:
        yield from file


@dataclass(frozen=True)
class Cost:
    """Cost of a run: wall-clock and processor seconds, and the peak memory in MiB of the largest process it started."""

    seconds: float
    cpu_seconds: float
    mib: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} ({self.cpu_seconds:.1f})\t{self.mib:.0f}"


def run(aligner: str, source: str, target: str, links: str, threads: int) -> Cost:
    """Align in another process; the aligner's name may be followed by flags."""
    aligner, *flags = aligner.split()
    program = [sys.executable, "-c", "from hyperbaton.__main__ import main; main()", "align", source, target, "-o", links]
    program += ["--aligner", aligner, "--threads", str(threads), "--quiet", *flags]
    start = time.perf_counter()
    process = subprocess.Popen(program)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{aligner} failed")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("--pairs", type=int, help="training pairs to use; all if not given")
    parser.add_argument("--speed", type=int, nargs="+", help="time and memory on these numbers of pairs of kyoto-ja-en")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--aligners", nargs="+", default=["hmm", "eflomal"])
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.speed:
            measure_speed(options, folder)
        else:
            measure_quality(options, folder)


def measure_speed(options: argparse.Namespace, folder: Path) -> None:
    print("pairs\t" + "\t".join(f"{aligner} s (cpu)\t{aligner} MiB" for aligner in options.aligners))
    for n in options.speed:
        (source, target), _ = TASKS["ja-en"].write(options.data, folder, n)
        row = [str(n)]
        for aligner in options.aligners:
            row.append(str(run(aligner, source, target, str(folder / "links"), options.threads)))
        print("\t".join(row), flush=True)


def measure_quality(options: argparse.Namespace, folder: Path) -> None:
    print("task\taligner\tAER\tprecision\trecall\tseconds (cpu)\tMiB")
    for task in (TASKS[name] for name in options.tasks):
        (source, target), n_gold = task.write(options.data, folder, options.pairs)
        sure, possible = task.links(options.data)
        for aligner in options.aligners:
            links = folder / f"{aligner}.links"
            cost = run(aligner, source, target, str(links), options.threads)
            scores = evaluate_links(read_links(links).select(np.arange(n_gold)), sure, possible)
            quality = f"{scores.aer:.2f}\t{scores.precision:.2f}\t{scores.recall:.2f}"
            print(f"{task.name}\t{aligner}\t{quality}\t{cost}", flush=True)


if __name__ == "__main__":
    main()
