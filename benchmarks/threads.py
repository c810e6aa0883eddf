"""How the speed of each command grows with the number of threads.

    python -m benchmarks.threads [--threads 1 2 4 8 16] [--seconds 6] [--times 1] [--quick]
    python -m benchmarks.threads --text train.ja train.en train.links --test test.ja

The text is generated, unless one is given; translation repeats the lines of the test text as often as needed. Each command
gets as many lines as one thread does in about `--seconds`, or all there are. Prints wall and processor seconds less those
of the same command for one line, lines a second, and the speed relative to the first number of threads; the efficiency is
that divided by the ratio of threads. Processor seconds that grow with the threads show that they wait for the memory or
for each other; if they stay the same, some threads have no work. With --times, the run with the least wall time counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._measure import existing_path, print_rows
from hyperbaton.base.progress import n_threads
from hyperbaton.corpus.files import read_lines
from hyperbaton.data import generate

PROGRAM = [sys.executable, "-m", "hyperbaton"]
FEW = 1  # lines of the run whose time is taken off
LEAST = 128  # lines of a measurement: for each of 16 threads, 8
POPS = 200
RULES = 5_000  # pairs that rules are extracted from
PAIRS, TESTS = 30_000, 1_000  # generated


def run(*arguments: object) -> tuple[float, float]:
    """Wall and processor seconds of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"hyperbaton {' '.join(map(str, arguments))} failed: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True)
class Command:
    """A command on the first lines of files; `endless` if they may be repeated."""

    name: str
    files: list[list[str]]
    arguments: Callable[[list[Path]], list[object]]
    folder: Path
    endless: bool = False

    def cost(self, n_lines: int, threads: int, times: int = 1) -> tuple[float, float]:
        """Wall and processor seconds for some lines, less those for a few."""
        few, many = (min(self._run(n, threads) for _ in range(times)) for n in (FEW, n_lines))
        return max(many[0] - few[0], 1e-3), max(many[1] - few[1], 1e-3)

    def _run(self, n_lines: int, threads: int) -> tuple[float, float]:
        paths = [self.folder / f"part.{i}" for i in range(len(self.files))]
        for path, lines in zip(paths, self.files, strict=True):
            write(path, islice(cycle(lines), n_lines))
        return run(*self.arguments(paths), "-q", "-t", threads)

    def size(self, seconds: float) -> int:
        """How many lines one thread does in about this time."""
        n_lines, most = 32, len(self.files[0])
        while (spent := self.cost(n_lines, 1)[1]) < seconds / 8 and (self.endless or n_lines < most):
            n_lines *= 4
        wanted = max(int(n_lines * seconds / spent), LEAST)
        return wanted if self.endless else min(wanted, most)


def write(path: Path, lines: Iterator[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def commands(texts: list[list[str]], test: list[str], folder: Path) -> list[Command]:
    """The commands, with the systems that they need."""
    names = ("src", "tgt", "links")
    source, target, links = (write(folder / name, iter(text)) for name, text in zip(names, texts, strict=True))
    few = [write(folder / f"few.{name}", islice(text, RULES)) for name, text in zip(names, texts, strict=True)]
    run("extract", source, target, links, "--max-length", 7, "-o", folder / "phrases", "-q")
    tests = write(folder / "tests", iter(test))
    run("extract", *few, "--hierarchical", "--for", tests, "-o", folder / "rules", "-q")
    run("lm", target, "--discount-fallback", "-o", folder / "lm", "-q")
    lr = "LR=hier-mslr-bidirectional-fe"
    for name, *flags in (("phrases", "--reordering", lr), ("rules",)):
        run("system", "-o", folder / f"{name}.system", f"--{name}", folder / name, "--lm", folder / "lm", *flags)

    def translate(kind: str) -> Command:
        system, flags = folder / f"{kind}.system", ["--pop-limit", POPS, "-o", folder / "output"]
        return Command(
            f"translate, {kind}", [test], lambda paths: ["translate", system, *paths, *flags], folder, endless=True
        )

    out = folder / "out"
    made = ["--force", "-o", out]
    return [
        translate("phrases"),
        translate("rules"),
        Command("align", texts[:2], lambda paths: ["align", *paths, "-o", folder / "output"], folder),
        Command("extract", texts, lambda paths: ["extract", *paths, "--max-length", 7, *made], folder),
        Command("lm", texts[1:2], lambda paths: ["lm", *paths, "--discount-fallback", *made], folder),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs=3, metavar=("SRC", "TGT", "LINKS"), type=existing_path)
    parser.add_argument("--test", metavar="SRC", type=existing_path, help="text to translate; the first lines of --text")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--seconds", type=float, default=6.0, help="of a command with one thread, roughly")
    parser.add_argument("--times", type=int, default=1, help="runs of each command")
    parser.add_argument("--quick", action="store_true", help="little text and time, to see that it works")
    options = parser.parse_args()
    seconds, share = (1.0, 20) if options.quick else (options.seconds, 1)
    if options.text:
        texts = [list(read_lines(str(path))) for path in options.text]
        test = list(read_lines(str(options.test or options.text[0])))[:TESTS]
    else:
        pairs = generate((PAIRS + TESTS) // share, style="japanese").bitext
        n_train = PAIRS // share
        sides = [[" ".join(line) for line in side] for side in (pairs.source, pairs.target)]
        texts = [side[:n_train] for side in sides]
        texts.append([" ".join(f"{i}-{j}" for i, j in links) for links in islice(pairs.need_links(), n_train)])
        test = sides[0][n_train:]
    counts = [n for n in options.threads if n <= n_threads(None)]
    if left_out := [n for n in options.threads if n not in counts]:
        print(f"only {n_threads(None)} processors: {', '.join(map(str, left_out))} threads left out", file=sys.stderr)
    os.environ["OMP_NUM_THREADS"] = "1"
    with TemporaryDirectory() as name:
        rows = [
            row for command in commands(texts, test, Path(name)) for row in measure(command, counts, seconds, options.times)
        ]
    print_rows(rows)


def measure(command: Command, counts: list[int], seconds: float, times: int) -> Iterator[dict[str, Any]]:
    """A row for each number of threads."""
    n_lines, first = command.size(seconds), None
    for threads in counts:
        wall, processor = command.cost(n_lines, threads, times)
        first = first or (wall, threads)
        faster = first[0] / wall
        yield {
            "command": command.name,
            "lines": n_lines,
            "threads": threads,
            "wall s": wall,
            "processor s": processor,
            "lines/s": n_lines / wall,
            "times": faster,
            "efficiency": faster * first[1] / threads,
        }
        print(f"{command.name}, {threads} threads: {wall:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
