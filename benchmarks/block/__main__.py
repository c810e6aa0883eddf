"""What smoothed priors and parse features bring: XI11 Tables 2, 3 and 4, on Chinese laws.

    python -m benchmarks.block DATA -o DIR [--train 20000] [--seeds 1 2 3] [--iterations 10] [--rows ME +SIB …]

DATA is the folder of corpora. Training text are all sentence pairs with trees and as many others as it takes. Rows: the
phrase-based system, the block model with a flat prior and no questions about the parse (ME), and what is added to it.
Each row's weights are tuned by themselves, once for each seed; scores are means over the seeds, and p tells whether the
difference to ME (of ME: to PBT) may be chance, by approximate randomisation. A second table has the rows with the weights
that were tuned for ME, which shows what the model alone changes. Each piece of work runs in a process of its
own and is kept in DIR: the same command goes on where it was interrupted. Tables go to stdout and DIR/tables.txt.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._measure import alone, print_rows
from benchmarks.block.data import prepare
from benchmarks.block.rows import (
    ROWS,
    TESTED,
    Training,
    Translating,
    build_parts,
    outputs,
    share_row,
    time_row,
    train_row,
    tune_row,
)
from hyperbaton.evaluate.translations import Scored, score_translations
from hyperbaton.metrics import make_metric

METRICS = ("bleu", "ter", "pdscore")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("-o", "--output", type=Path, required=True)
    for name, default in (("train", 20_000), ("dev", 600), ("test", 700), ("gold", 450), ("passes", 40), ("min-count", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("max-targets", 20), ("iterations", 10), ("n-best", 100), ("pop-limit", 200), ("stack", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--limit", type=int, default=9, help="distortion limit")
    parser.add_argument("--optimizer", default="mert")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--tree-rules", default="de")
    parser.add_argument("--variance", type=float, default=1.0)
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--repeats", type=int, default=3, help="measurements of speed")
    parser.add_argument("--speed-pops", type=int, nargs="+", default=[200, 500, 1000], help="pop limits to measure it at")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    folder: Path = given.output
    if not (folder / "gold.trees").exists():
        prepare(given.data, folder, given.train, given.dev, given.test, given.gold)
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.zh"))}

    def kept(name: str, how: dict[str, Any], work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
        """The result of a piece of work, made now or earlier."""
        file = folder / f"{name}.json"
        key = json.dumps([name, how, sizes], sort_keys=True)
        if file.exists() and (stored := json.loads(file.read_text(encoding="utf-8")))["key"] == key:
            return dict(stored["result"])
        result = alone(work, str(folder), *arguments, given.threads)
        file.write_text(json.dumps({"key": key, "result": result}), encoding="utf-8")
        print(f"{name}: {result['seconds']:.0f} s", file=sys.stderr, flush=True)
        return result

    training = {name: getattr(given, name) for name in Training.__dataclass_fields__}
    translating = {name: getattr(given, name) for name in Translating.__dataclass_fields__}
    kept("parts", {}, build_parts)
    models = [row for row in given.rows if ROWS[row]]
    trained = {row: kept(f"{row}.train", training, train_row, row, training) for row in models}
    tuned = {
        row: [
            kept(f"{row}.{seed}", {**(training if ROWS[row] else {}), **translating}, tune_row, row, translating, seed)
            for seed in given.seeds
        ]
        for row in given.rows
    }
    shared = {
        row: [
            kept(
                f"{row}.{seed}.shared",
                {**training, **translating},
                share_row,
                row,
                translating,
                f"{seed}.shared",
                found["weights"],
            )
            for seed, found in zip(given.seeds, tuned["ME"], strict=True)
        ]
        for row in models
        if "ME" in tuned and row != "ME"
    }
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        print(f"command: python -m benchmarks.block {shlex.join(sys.argv[1:])}")
        runs = {row: [str(seed) for seed in given.seeds] for row in given.rows}
        _tables(folder, "Each row with weights of its own", runs, trained)
        runs = {row: [f"{seed}.shared" if row in shared else str(seed) for seed in given.seeds] for row in ("ME", *shared)}
        if shared:
            _tables(folder, "All rows with the weights of ME", runs, trained)
        _paths(trained)
        if models:
            for pops in given.speed_pops:
                how = {**translating, "pop_limit": pops, "stack": max(given.stack, pops // 5)}
                _speed(models[-1], folder, how, tuned[models[-1]][0]["weights"], given.repeats)
    (folder / "tables.txt").write_text(told.getvalue(), encoding="utf-8")
    print(told.getvalue(), end="")


def _tables(folder: Path, title: str, runs: dict[str, list[str]], trained: dict[str, Any]) -> None:
    for part, text in zip(TESTED, ("test text, links of the reference are automatic", "hand-aligned news"), strict=True):
        made = {row: [outputs(folder, row, run, part) for run in names] for row, names in runs.items()}
        print(f"\n{title}; {text}: mean, deviation over tuning runs, p against ME (ME: against PBT)")
        found = []
        for row in runs:
            other = "PBT" if row == "ME" else "ME"
            against = made[other] if row != "PBT" and other in made else []
            metrics = [make_metric(name) for name in METRICS]
            scores = score_translations(metrics, made[row], against, test="randomization", samples=2000)
            found.append({"system": row, "features": trained[row]["features"] if row in trained else ""})
            for name, scored in zip(METRICS, scores, strict=True):
                found[-1] |= _told(name, scored)
        print_rows(found)


def _paths(trained: dict[str, Any]) -> None:
    if not trained:
        return
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


def _told(name: str, scored: Scored) -> dict[str, str]:
    p = "" if scored.comparison is None else f"{scored.comparison.p:.3f}"
    return {name: f"{scored.estimate.value:.2f}", f"{name} ±": f"{scored.estimate.deviation:.2f}", f"{name} p": p}


def _speed(fullest: str, folder: Path, how: dict[str, Any], weights: dict[str, Any], repeats: int) -> None:
    """Processor time of decoding with the fullest model, against a lexicalized one, turn by turn, one thread."""
    seconds: dict[str, list[dict[str, Any]]] = {"lexicalized": [], fullest: []}
    for _ in range(repeats):
        for name, found in seconds.items():
            found.append(alone(time_row, str(folder), name, how, weights))
    print(f"\nProcessor seconds of translating, one thread, least of the repeats, pop limit {how['pop_limit']}")
    best = {name: {part: min(told[part] for told in found) for part in TESTED} for name, found in seconds.items()}
    rows = []
    for name, parts in best.items():
        rows.append({"system": name, **parts})
        for part in TESTED:
            rows[-1][f"{part}, relative"] = parts[part] / best["lexicalized"][part]
        rows[-1]["MiB"] = max(told["peak_mib"] for told in seconds[name])
    print_rows(rows)


if __name__ == "__main__":
    main()
