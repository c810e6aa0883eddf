"""Speed and memory of phrase extraction from an aligned bitext.

    python -m benchmarks.extract SRC TGT LINKS [--sizes 10000 50000 200000] [--max-length 8]

Prints, for each number of sentence pairs and 1 and 2 threads: sentences and samples per second of extraction, time per
sentence pair, and the peak memory of the process, including reading the text. The whole pipeline from text to scored Moses
tables follows. If Moses' `extract`, `score`, `consolidate` and `lexical-reordering-score` are on PATH, they process the
same files in the same run, and the ratios are printed. Building lexical tables is included in our time, but not in that of
Moses.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import alone, existing, print_rows
from benchmarks.extract.moses import PROGRAMS, moses_chain, write_lexical
from benchmarks.extract.work import REORDERING, samples, tables
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import write_pieces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar="FILE", help="SRC TGT LINKS", type=existing)
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
                "processor s": row["processor_s"],
                "of it writing": row["writing_s"],
                "files MiB": row["file_mib"],
                "MiB": row["peak_mib"],
            }
        )
    print()
    print_rows(rows)
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        print(f"\nno ratio to Moses: {', '.join(missing)} not on PATH")
        return
    write_lexical(bitext, folder)
    theirs = moses_chain(folder, max_length)
    whole = sum(theirs.values())
    extraction = [alone(samples, paths, n, max_length, threads)["seconds"] for threads in (1, 2)]
    print()
    print_rows(
        [
            {
                "against Moses, threads": threads,
                "Moses extract s": theirs["extract"],
                "ratio extract": theirs["extract"] / extraction[threads - 1],
                "Moses to tables s": whole,
                "ratio to tables": whole / row["s"],
            }
            for threads, row in zip((1, 2), rows, strict=True)
        ]
    )
    same = all(
        gzip.decompress((folder / name).read_bytes()) == gzip.decompress((folder / "ours" / name).read_bytes())
        for name in ("phrase-table.gz", f"reordering-table.{REORDERING}.gz")
    )
    print(f"tables {'equal' if same else 'differ from'} Moses' byte for byte")


if __name__ == "__main__":
    main()
