"""Whether the cost per sentence pair stays constant as the text grows: time and memory of every stage by size.

    python -m benchmarks.growth --sizes 10000 30000 100000 --stages extract lm --memory 1G
    python -m benchmarks.growth --text train.ja train.en train.links --dev dev.ja dev.en --stages rules lm chart tune-rules

Each stage runs as a command of the program on generated text, or on the first lines of --text, in a separate process.
`us_each` is processor microseconds per sentence pair, `relative` is its ratio to that of the smallest size, and `kib_each`
is the peak memory per pair. `peak_mib` is the peak resident memory, with pages of mapped files, and `private_mib` that
without them. `disk_mb` is the peak disk space, including temporary files, and `kept_mb` is the growth of the folder.
`phrases` is extraction without Moses' tables; --arrays prints the size of each array of its artefact. `align-saved` links
with a model trained on the smallest text. `pair`, `sequence`, `tune` and `tune-rules` make a fixed number of passes.
`system` needs `phrases` and `lm`, `tune` needs `system`; `chart` needs `rules` and `lm`, `tune-rules` needs `chart`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks._measure import existing_path, print_growth, print_rows
from benchmarks.growth.disk import array_bytes
from benchmarks.growth.work import N_DEV, STAGES, cut_text, measure, save_aligner, write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 30_000, 100_000])
    parser.add_argument("--stages", nargs="+", choices=list(STAGES), default=list(STAGES))
    parser.add_argument("--memory", help="limit of the stages that take one, e.g. 1G")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--text", nargs=3, metavar=("SRC", "TGT", "LINKS"), type=existing_path, help="instead of generated text"
    )
    parser.add_argument("--dev", nargs=2, metavar=("SRC", "TGT"), type=existing_path, help="with --text: text to tune on")
    parser.add_argument("--dev-lines", type=int, default=N_DEV, help="lines of --dev to tune on, and that rules are for")
    parser.add_argument("--arrays", action="store_true", help="print bytes per pair of the arrays of extracted phrases")
    parser.add_argument("--folder", type=Path, help="where to keep the texts and what is made of them")
    args = parser.parse_args()
    if bool(args.text) != bool(args.dev):
        parser.error("--text and --dev go together")
    with tempfile.TemporaryDirectory() as temporary:
        root = args.folder or Path(temporary)
        for n in args.sizes:
            (root / str(n)).mkdir(parents=True, exist_ok=True)
            if args.text:
                cut_text(root / str(n), n, args.text, args.dev_lines, args.dev)
            elif not (root / str(n) / "train.source").exists():
                write_text(root / str(n), n, args.seed)
        if "align-saved" in args.stages and not (root / "aligner").exists():
            save_aligner(root / str(args.sizes[0]))
        for name in args.stages:
            print(f"# {name}", flush=True)
            rows = (measure(STAGES[name], root / str(n), n, args.memory, args.threads) for n in args.sizes)
            print_growth(({**row, "kib_each": 1024 * row["peak_mib"] / row["pairs"]} for row in rows), "pairs")
            if args.arrays and name in ("extract", "phrases"):
                print_rows(array_bytes(root / str(args.sizes[-1]) / "phrases", args.sizes[-1]))


if __name__ == "__main__":
    main()
