"""What smoothed priors and parse features bring: XI11 Tables 2, 3 and 4, on Chinese laws.

    python -m benchmarks.block DATA -o DIR [--train 20000] [--test 400] [--iterations 4] [--rows ME +SIB …]

DATA is the folder of corpora. Training text are all sentence pairs with trees and as many others as it takes. Rows: the
phrase-based system, the block model with a flat prior and no questions about the parse (ME), and what is added to it.
Weights are tuned for PBT and for ME, and all other rows have ME's; with --iterations 0 all have the untuned ones. Each row
runs in a process of its own and is kept in DIR: the same command goes on where it was interrupted. Tables go to stdout and
DIR/tables.txt.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks._measure import alone, print_rows
from benchmarks.block.data import prepare
from benchmarks.block.rows import ROWS, How, build_parts, signature, train_row, translate_row, tune_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("-o", "--output", type=Path, required=True)
    for name, default in (("train", 20_000), ("dev", 200), ("test", 400), ("gold", 450), ("passes", 40), ("min-count", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("max-targets", 20), ("iterations", 4), ("pop-limit", 200), ("stack", 50), ("limit", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--tree-rules", default="de")
    parser.add_argument("--variance", type=float, default=1.0)
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--repeats", type=int, default=3, help="measurements of speed")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    how = How(
        passes=given.passes,
        min_count=given.min_count,
        max_targets=given.max_targets,
        tree_rules=given.tree_rules,
        variance=given.variance,
        tune_iterations=given.iterations,
        pop_limit=given.pop_limit,
        stack=given.stack,
        distortion_limit=given.limit,
        threads=given.threads,
    )
    folder: Path = given.output
    if not (folder / "gold.trees").exists():
        prepare(given.data, folder, given.train, given.dev, given.test, given.gold)

    def kept(name: str, work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
        """The result of a piece of work, made now or earlier."""
        file = folder / f"{name}.json"
        key = signature(name, how, folder)
        if file.exists() and (stored := json.loads(file.read_text(encoding="utf-8")))["key"] == key:
            return dict(stored["result"])
        result = alone(work, str(folder), *arguments)
        file.write_text(json.dumps({"key": key, "result": result}), encoding="utf-8")
        print(f"{name}: {result['seconds']:.0f} s", file=sys.stderr, flush=True)
        return result

    options = asdict(how)
    kept("parts", build_parts, options)
    trained, tuned, done = {}, {}, {}
    for row in given.rows:
        if ROWS[row]:
            trained[row] = kept(f"{row}.train", train_row, row, options)
        if row in ("PBT", "ME") and how.tune_iterations > 0:
            tuned[row] = kept(f"{row}.tuned", tune_row, row, options)["weights"]
        weights = tuned.get("PBT" if row == "PBT" else "ME", {})
        done[row] = kept(f"{row}.translated", translate_row, row, options, weights)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        print(f"command: python -m benchmarks.block {shlex.join(sys.argv[1:])}")
        _tables(given.rows, trained, done)
        _speed(given.rows[-1], folder, options, tuned.get("ME", {}), given.repeats)
    (folder / "tables.txt").write_text(told.getvalue(), encoding="utf-8")
    print(told.getvalue(), end="")


def _tables(rows: list[str], trained: dict[str, Any], done: dict[str, Any]) -> None:
    print("\nPDscore (Table 2): test text with automatic links, hand-aligned news")
    print_rows(
        [{"system": row, "test": done[row]["test"]["pdscore"], "gold": done[row]["gold"]["pdscore"]} for row in rows]
    )
    for part, title in (("test", "Translation of the test text (Table 3)"), ("gold", "of the hand-aligned news (Table 4)")):
        print(f"\n{title}")
        print_rows(
            [
                {
                    "system": row,
                    "features": trained[row]["features"] if row in trained else "",
                    "BLEU": done[row][part]["bleu"],
                    "TER": done[row][part]["ter"],
                }
                for row in rows
            ]
        )
    print("\nHeld-out paths: log p(t, j | s), log p(j | s, t), jumps right (%), processor seconds of training")
    print_rows(
        [
            {
                "system": row,
                "log p": found["test"]["mean_logprob"],
                "log p(j)": found["test"]["mean_jump_logprob"],
                "jumps right": found["test"]["jump_accuracy"],
                "cpu s": found["train_cpu_s"],
            }
            for row, found in trained.items()
        ]
    )


def _speed(fullest: str, folder: Path, options: dict[str, Any], weights: dict[str, Any], repeats: int) -> None:
    """Processor time of decoding with the fullest model, against a lexicalized one, turn by turn, one thread."""
    one = {**options, "threads": 1}
    seconds: dict[str, list[float]] = {"lexicalized": [], fullest: []}
    for _ in range(repeats):
        for name, found in seconds.items():
            told = alone(translate_row, str(folder), name, one, weights)
            found.append(told["test"]["cpu_s"] + told["gold"]["cpu_s"])
    best = {name: min(found) for name, found in seconds.items()}
    print("\nProcessor seconds of translating test text and news, one thread, least of the repeats")
    print_rows([{"system": name, "cpu s": value, "relative": value / best["lexicalized"]} for name, value in best.items()])


if __name__ == "__main__":
    main()
