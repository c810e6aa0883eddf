"""The benchmark's command line; files of a bitext are relative to $HYPERBATON_DATA.

python -m benchmarks.learn compare --bitext train.zh.xz train.en.xz train.links.xz --orientations three five
python -m benchmarks.learn compare --generate 200000
python -m benchmarks.learn compare --rows samples.npz

python -m benchmarks.learn clusters --bitext train.zh.xz train.en.xz train.links.xz --features dpr --sentences 20000
python -m benchmarks.learn streaming --gib 4 --allowance 0.5
python -m benchmarks.learn size
python -m benchmarks.learn figures -o figures
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

from benchmarks._measure import print_rows
from benchmarks.learn.clusters import against_perceptron, cost_by_size
from benchmarks.learn.compare import measure, summarise
from benchmarks.learn.data import Data, from_bitext, generate
from benchmarks.learn.figures import active_sets, training_times
from benchmarks.learn.streaming import stream
from hyperbaton.corpus import Bitext
from hyperbaton.features import FEATURES
from hyperbaton.phrases import orientation_set


def read_data(args: argparse.Namespace, orientations: str) -> Data:
    """The rows selected by the flags."""
    if args.rows:
        return Data.read(args.rows)
    if args.bitext:
        base = Path(os.environ.get("HYPERBATON_DATA", "."))
        bitext = Bitext.read(*(base / file for file in args.bitext), empty=True)
        if args.sentences < len(bitext):
            bitext = bitext.select(np.random.default_rng(args.seed).permutation(len(bitext))[: args.sentences])
        return from_bitext(bitext, args.features, orientations, args.min_count)
    return generate(args.generate, len(orientation_set(orientations).names), seed=args.seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compare", "clusters", "streaming", "size", "figures"))
    parser.add_argument("--generate", type=int, default=100_000, help="rows to generate")
    parser.add_argument("--bitext", nargs=3, type=Path, help="source, target, links; relative to $HYPERBATON_DATA")
    parser.add_argument("--sentences", type=int, default=2000, help="sentence pairs of the bitext to use, at random")
    parser.add_argument("--features", choices=list(FEATURES), default="aligned_words", help="feature set for a bitext")
    parser.add_argument("--min-count", type=int, default=10, help="phrase pairs of the bitext that a feature needs")
    parser.add_argument("--orientations", nargs="+", default=["three"], help="orientation sets: three, five, …")
    parser.add_argument("--rows", type=Path, help=".npz with indptr, indices, n_features, labels, clusters")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="threads of our learners")
    parser.add_argument("--max-seconds", type=float, default=8, help="time for each contender, about")
    parser.add_argument("--variance", type=float, default=0.1, help="σ² of the prior, and C of the margin learners")
    parser.add_argument("--only", nargs="+", default=[""], help="contenders whose name contains one of these")
    parser.add_argument("--error", type=float, help="target error; default: the best logistic one + 0.2 points")
    parser.add_argument("--clusters", type=int, default=10_000, help="clusters in the comparison with Perceptron")
    parser.add_argument("--gib", type=float, default=1.0, help="size of the rows to stream")
    parser.add_argument("--allowance", type=float, default=0.25, help="GiB of private memory that streaming may use")
    parser.add_argument("-o", "--output", type=Path, default=Path("figures"), help="folder for figures")
    parser.add_argument("--json", type=Path, help="write every measurement here")
    args = parser.parse_args()

    first = args.orientations[0]
    if args.what == "compare":
        results = {}
        for orientations in args.orientations:
            data = read_data(args, orientations)
            shape = f"{len(data)} rows, {data.rows.n_features} features, {len(data.rows.indices)} entries"
            print(f"{shape}, {data.n_classes} classes, σ² = {args.variance:g}, {args.threads} thread(s)")
            results[orientations] = measure(data, args.threads, args.max_seconds, args.variance, args.only)
            print(summarise(results[orientations], args.error), flush=True)
    elif args.what == "clusters":
        results = against_perceptron(read_data(args, first), args.clusters, 10, args.threads)
        print(json.dumps(results, indent=1))
    elif args.what == "streaming":
        results = stream(args.gib, args.allowance, args.threads)
        print_rows(results)
    elif args.what == "size":
        results = cost_by_size([args.generate // 4, args.generate, args.generate * 4], 5, args.threads)
        for name, entries, cost in results:
            print(f"{name:14} {entries:>12} entries {cost:8.2f} ns per entry and pass")
    else:
        args.output.mkdir(parents=True, exist_ok=True)
        results = {
            "active": {
                str(e): s.tolist() for e, s in active_sets(read_data(args, first), args.output / "active-set.svg").items()
            },
            "seconds": training_times(args.generate // 5, args.output / "training-time.svg"),
        }
        for label, seconds in results["seconds"].items():
            print(f"{label:12}", *(f"{s:8.2f}" for s in seconds))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
