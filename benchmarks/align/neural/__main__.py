"""`pack` and `score`: the steps before and after training on another machine, which need hyperbaton's core."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks._measure import existing_path
from benchmarks.align.published import Task, tasks

from hyperbaton.align import Aligner, evaluate_links
from hyperbaton.align.aligners.neural import Neural
from hyperbaton.base.options import options_of
from hyperbaton.corpus import Bitext

CONFIDENCES = (0.1, 0.15, 0.2, 0.25, 0.3)
TIMED = 5000  # sentence pairs


def pack(data: Path, output: Path, n_pairs: int, names: list[str] | None, threads: int) -> None:
    """For each gold set, write a trained hidden Markov model and the training data of the networks."""
    output.mkdir(parents=True, exist_ok=True)
    for task in tasks(data, names):
        bitext, n_gold = _bitext(data, task, n_pairs)
        aligner = Neural()
        Aligner.fit(aligner, bitext, threads=threads)
        texts = aligner.prepare(bitext, threads)
        arrays, options = texts.arrays(), {opt.name: getattr(aligner, opt.name) for opt in options_of(Neural)}
        options["seed"] = aligner.seed
        arrays["options"] = np.frombuffer(json.dumps(options).encode(), np.uint8)
        arrays["posteriors"] = np.rint(255 * texts.posteriors).astype(np.uint8)
        np.savez_compressed(output / f"{task.name}.npz", **arrays)
        aligner.save(output / f"{task.name}.hmm", smallest=0)
        print(f"{task.name}: {len(bitext) - n_gold} pairs and {n_gold} gold pairs", file=sys.stderr)


def score(data: Path, packed: Path, trained: Path, n_pairs: int, threads: int) -> None:
    """Print error rates by confidence, and sentence pairs linked per second of processor time."""
    print("| gold set | network | " + " | ".join(map(str, CONFIDENCES)) + " | pairs per processor second |")
    print("|" + "---|" * (len(CONFIDENCES) + 3))
    for task in tasks(data):
        if not (packed / f"{task.name}.hmm").exists():
            continue
        bitext, n_gold = _bitext(data, task, min(n_pairs, TIMED))
        sure, possible = task.links(data)
        gold = bitext.select(np.arange(n_gold))
        networks = [path for path in sorted(trained.glob(f"{task.name}.*.npz")) if not path.stem.endswith("teacher")]
        for path in (None, *networks):
            aligner = Aligner.load(packed / f"{task.name}.hmm")
            if path is not None and isinstance(aligner, Neural):
                aligner.take(dict(np.load(path)))
            rates = []
            for aligner.confidence in CONFIDENCES:
                rates.append(f"{evaluate_links(aligner.align(gold, threads=threads), sure, possible).aer:.2f}")
            start = time.process_time()
            aligner.align(bitext, threads=threads)
            speed = len(bitext) / (time.process_time() - start)
            name = "none" if path is None else path.stem.removeprefix(f"{task.name}.")
            print(f"| {task.name} | {name} | " + " | ".join(rates) + f" | {speed:,.0f} |", flush=True)


def _bitext(data: Path, task: Task, n_pairs: int) -> tuple[Bitext, int]:
    """The gold pairs, followed by training pairs, and the number of gold pairs."""
    with tempfile.TemporaryDirectory() as folder:
        files, n_gold = task.write(data, Path(folder), n_pairs or None, parts=("train", "more"))
        return Bitext.read(*files, empty=True), n_gold


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.align.neural", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="train the hidden Markov model and write what networks learn from")
    packing.add_argument("data", type=existing_path, help="folder of corpora")
    packing.add_argument("-o", "--output", type=Path, required=True)
    packing.add_argument("--tasks", nargs="+", help="such as ja-en; all that have a gold set")
    scoring = commands.add_parser("score", help="print error rates and speeds of the networks of gpu.py")
    scoring.add_argument("data", type=existing_path, help="folder of corpora")
    scoring.add_argument("packed", type=existing_path)
    scoring.add_argument("trained", type=existing_path)
    for command in (packing, scoring):
        command.add_argument("--pairs", type=int, default=100_000, help="training pairs; 0: all there are")
        command.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.command == "pack":
        pack(options.data, options.output, options.pairs, options.tasks, options.threads)
    else:
        score(options.data, options.packed, options.trained, options.pairs, options.threads)


if __name__ == "__main__":
    main()
