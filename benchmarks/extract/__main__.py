"""How fast phrase pairs come out of an aligned bitext, and with how much memory.

    python -m benchmarks.extract SRC TGT LINKS [--sizes 10000 50000 200000] [--max-length 8]

Prints, for each number of sentence pairs and 1 and 2 threads: sentences and samples per second of extraction, time per
sentence pair, and the peak memory of the process, text reading included. Then the whole way from text to scored Moses
tables. Where Moses' `extract` (and `score`, `consolidate`, `lexical-reordering-score`) is on PATH, the same files go
through it in the same run, and the ratio is printed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import alone, print_rows
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import write_pieces
from hyperbaton.phrases import Extracted, Extraction, ReorderingType, extract, reordering_probabilities
from hyperbaton.phrases.moses import write_moses

REORDERING = "wbe-msd-bidirectional-fe"


def samples(paths: list[str], n: int, max_length: int, threads: int) -> dict[str, Any]:
    """Extraction alone: from a bitext in memory to sample columns."""
    bitext = Bitext.read(*paths).select(np.arange(n))
    start = time.perf_counter()
    found = extract(bitext, max_length, threads=threads)
    return {"seconds": time.perf_counter() - start, "samples": len(found)}


def tables(paths: list[str], max_length: int, threads: int, folder: str) -> dict[str, Any]:
    """The whole way: text files to scored phrase and reordering tables, gzipped."""
    bitext = Bitext.read(*paths)
    found = Extracted.of(bitext, Extraction(max_length), threads=threads)
    kind = ReorderingType.parse(REORDERING)
    probabilities = reordering_probabilities(found.inventory, found.samples, kind, threads=threads)
    write_moses(folder, found.table, [(kind, probabilities)])
    return {"pairs": len(found.table)}


def moses_extract(paths: list[str], max_length: int, folder: str) -> float:
    """Seconds of Moses' `extract` with orientations on plain files."""
    source, target, links = paths
    start = time.perf_counter()
    command = ["extract", target, source, links, f"{folder}/extract", str(max_length), "orientation", "--model", "wbe-msd"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar=("SRC", "TGT", "LINKS"))
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 50_000, 100_000, 200_000])
    parser.add_argument("--max-length", type=int, default=8)
    parser.add_argument("--chain", type=int, default=50_000, help="sentence pairs for the way to scored tables; 0: none")
    options = parser.parse_args()

    rows = []
    for n in options.sizes:
        for threads in (1, 2):
            row = alone(samples, options.files, n, options.max_length, threads)
            rate = {
                "sentences": n,
                "threads": threads,
                "samples": row["samples"],
                "sentences/s": n / row["seconds"],
                "samples/s": row["samples"] / row["seconds"],
                "µs/sentence": 1e6 * row["seconds"] / n,
                "peak MiB": row["peak_mib"],
            }
            rows.append(rate)
    print_rows(rows)

    if options.chain:
        with tempfile.TemporaryDirectory() as folder:
            _chain(options.files, options.chain, options.max_length, Path(folder))


def _chain(files: list[str], n: int, max_length: int, folder: Path) -> None:
    bitext = Bitext.read(*files).select(np.arange(n))
    paths = [str(folder / name) for name in ("train.src", "train.tgt", "train.links")]
    for path, part in zip(paths, (bitext.source, bitext.target, bitext.links), strict=True):
        assert part is not None
        write_pieces(path, part.pieces())
    rows = []
    for threads in (1, 2):
        row = alone(tables, paths, max_length, threads, str(folder / "ours"))
        rows.append(
            {
                "text to tables": f"{n} sentences",
                "threads": threads,
                "pairs": row["pairs"],
                "s": row["seconds"],
                "MiB": row["peak_mib"],
            }
        )
    print()
    print_rows(rows)
    if shutil.which("extract"):
        theirs = moses_extract(paths, max_length, str(folder))
        ours = min(alone(samples, paths, n, max_length, threads)["seconds"] for threads in (1, 2))
        print(f"\nextract: Moses {theirs:.1f} s, hyperbaton {ours:.1f} s, ratio {theirs / ours:.1f}")
    else:
        print("\nMoses' extract is not on PATH: no ratio")


if __name__ == "__main__":
    main()
