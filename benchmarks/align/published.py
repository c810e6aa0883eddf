"""Alignment error rates at the training sizes of published results, compared with the published figures.

    python -m benchmarks.align.published DATA -o cells
    python -m benchmarks.align.published DATA -o cells --tasks ja-en --pairs 100000 --aligners hmm "hmm --stem-prior 0"
    python -m benchmarks.align.published DATA -o cells --list
    python -m benchmarks.align.published DATA -o cells --compare

A cell is a gold set, a number of training pairs (0: all there are) and an aligner with its flags. Each cell is run
separately and writes a file to the folder, so that an interrupted run can be continued; --list names the cells and says
which are still to be run. Gold sets are the folders gold-links/XX-en-* of DATA with gold.XX, gold.en and gold.links (or
gold.sure.links and gold.possible.links, as `hyperbaton corpus get gold-de-en` writes them). Their training text is
train.*.xz, followed by more.*.xz if it exists, of the first folder called *-XX-en; a gold set without a training text is
reported and skipped. --compare runs nothing; it prints a table with a column for each of our aligners, from the finished
cells with the most training pairs, and for each published one.

The published figures were measured on different text and tokens: see docs/results/align.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._measure import existing_path
from benchmarks.align.aligners import Task, run

from hyperbaton.align import evaluate_links, read_links

LANGUAGES = ("de-en", "fr-en", "ro-en", "ja-en", "zh-en")
# Error rates by program, in the order of LANGUAGES; None where no source was seen. Their sources are in
# docs/results/align.md.
PUBLISHED: dict[str, tuple[float | None, ...]] = {
    "fast_align": (27.0, 10.5, 32.1, 51.1, 38.1),
    "GIZA++ (MGIZA)": (20.6, 5.9, 26.4, 48.0, 35.1),
    "eflomal": (22.6, 8.2, 25.1, 47.5, 28.7),
    "SimAlign": (19, 7, 29, None, None),
    "awesome-align": (15.2, 4.1, 22.6, 37.4, 13.4),
    "Mask-Align": (14.4, None, None, None, None),
}


@dataclass(frozen=True)
class Cell:
    """One error rate."""

    task: Task
    pairs: int  # 0: all
    aligner: str  # its name, then flags

    def file(self, folder: Path) -> Path:
        return folder / (re.sub(r"[^\w.]+", "-", f"{self.task.name} {self.pairs} {self.aligner}") + ".json")

    def measure(self, data: Path, threads: int) -> dict[str, float | int | str]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (source, target), n_gold = self.task.write(data, folder, self.pairs or None, parts=("train", "more"))
            with Path(target).open("rb") as file:
                n_pairs = sum(1 for _ in file) - n_gold
            links = folder / "links"
            cost = run(self.aligner, source, target, str(links), threads)
            sure, possible = self.task.links(data)
            every = np.arange(n_gold)
            made = read_links(links).select(every)
            scores = evaluate_links(made, sure, possible)
            halves = [
                evaluate_links(made.select(part), sure.select(part), possible and possible.select(part)).aer
                for part in (every[::2], every[1::2])
            ]
        return {
            "task": self.task.name,
            "pairs": n_pairs,
            "aligner": self.aligner,
            "aer": scores.aer,
            "even_lines": halves[0],
            "odd_lines": halves[1],
            "precision": scores.precision,
            "recall": scores.recall,
            **asdict(cost),
        }


def tasks(data: Path, names: Sequence[str] | None = None) -> Iterator[Task]:
    """The gold sets of a folder of corpora that have a training text there, or those of certain languages."""
    for gold in sorted((data / "gold-links").glob("*-en*")):
        language = gold.name.split("-")[0]
        if names is not None and f"{language}-en" not in names:
            continue
        train = next((path for path in sorted(data.glob(f"*-{language}-en")) if (path / "train.en.xz").exists()), None)
        if train is None:
            print(f"{gold}: no training text *-{language}-en beside it", file=sys.stderr)
            continue
        sure = "gold.sure.links" if (gold / "gold.sure.links").exists() else "gold.links"
        possible = "gold.possible.links" if (gold / "gold.possible.links").exists() else None
        where = (train.name, str(gold.relative_to(data)))
        yield Task(f"{language}-en", *where, (language, "en"), sure, possible)


def task_parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments of measurements on gold sets: the corpora, which of them, and threads."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("--tasks", nargs="+", help="pairs of languages, such as ja-en; all that have a gold set")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def main() -> None:
    parser = task_parser(__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of finished cells")
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 0], help="training pairs; 0: all there are")
    parser.add_argument("--aligners", nargs="+", default=["hmm", "eflomal"], help="names, followed by flags")
    parser.add_argument("--list", action="store_true", help="name the cells that are not there yet")
    parser.add_argument("--compare", action="store_true", help="print finished cells beside published figures")
    options = parser.parse_args()
    if options.compare:
        print_comparison(options.output)
        return
    options.output.mkdir(parents=True, exist_ok=True)
    cells = [
        Cell(task, pairs, aligner)
        for task in tasks(options.data, options.tasks)
        for pairs in options.pairs
        for aligner in options.aligners
    ]
    for cell in cells:
        file = cell.file(options.output)
        if options.list:
            print(f"{file.stem}\t{'there' if file.exists() else 'to run'}")
        elif not file.exists():
            text = json.dumps(cell.measure(options.data, options.threads), indent=1)
            file.with_suffix(".incomplete").write_text(text)
            file.with_suffix(".incomplete").rename(file)
            print(f"{file.stem} is done", file=sys.stderr)
    if not options.list:
        print_table(options.output)


def print_table(folder: Path) -> None:
    """Every cell of the folder."""
    print("| gold set | pairs | aligner | AER | even, odd lines | precision | recall | processor s |")
    print("|" + "---|" * 8)
    for row in sorted(read_cells(folder), key=lambda row: (row["task"], row["pairs"], row["aligner"])):
        halves = f"{row['even_lines']:.1f}, {row['odd_lines']:.1f}"
        quality = f"{row['aer']:.1f} | {halves} | {row['precision']:.1f} | {row['recall']:.1f}"
        cell = f"{row['task']} | {row['pairs']:,} | `{row['aligner']}`"
        print(f"| {cell} | {quality} | {row['cpu_seconds']:.0f} |")


def print_comparison(folder: Path) -> None:
    """A row for each gold set, a column for each of our aligners (with its training pairs) and each published one."""
    cells = sorted(read_cells(folder), key=lambda row: row["pairs"])
    ours = {(row["task"], row["aligner"]): f"{row['aer']:.1f} ({row['pairs']:,})" for row in cells}
    aligners = sorted({aligner for _, aligner in ours})
    print("| gold set | " + " | ".join([*(f"`{aligner}` here (pairs)" for aligner in aligners), *PUBLISHED]) + " |")
    print("|" + "---|" * (1 + len(aligners) + len(PUBLISHED)))
    for task in [*LANGUAGES, *sorted({task for task, _ in ours} - set(LANGUAGES))]:
        figures = dict(zip(LANGUAGES, zip(*PUBLISHED.values(), strict=True), strict=True)).get(task, ())
        texts = ["" if figure is None else str(figure) for figure in figures] or [""] * len(PUBLISHED)
        print("| " + " | ".join([task, *(ours.get((task, aligner), "") for aligner in aligners), *texts]) + " |")


def read_cells(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


if __name__ == "__main__":
    main()
