"""Time and quality of word classes on one text.

    python -m benchmarks.classes.exchange train.en --classes 50 --runs 5
    python -m benchmarks.classes.exchange tests/golden/mkcls/train.tgt --classes 10 --runs 10 \\
        --reference tests/golden/mkcls/train.tgt.mkcls10

Prints the time of reading, of one run with one thread and with all threads, and of all runs; the criterion by sweep; how
many times faster a sweep is than scoring each candidate move by recounting the text; and the criterion of other classes.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

from benchmarks._measure import existing

from hyperbaton.base.progress import default_threads
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import Clustering, WordClasses, class_criterion, word_classes

T = TypeVar("T")


def timed(function: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=existing)
    parser.add_argument("--classes", type=int, default=Clustering.classes)
    parser.add_argument("--runs", type=int, default=Clustering.runs)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reference", help="classes of the same words, as mkcls writes them")
    args = parser.parse_args()

    text, seconds = timed(lambda: Text.read(args.text))
    print(f"read {len(text)} sentences, {text.n_tokens} tokens, {len(text.vocabulary)} words: {seconds:.1f} s")

    def cluster(runs: int, n_threads: int) -> tuple[WordClasses, float]:
        return timed(lambda: word_classes(text, args.classes, runs=runs, seed=args.seed, threads=n_threads))

    _, alone = cluster(1, 1)
    first, together = cluster(1, default_threads())
    n_sweeps = len(first.history) - 1
    print(f"one run of {n_sweeps} sweeps: {alone:.2f} s on one thread, {together:.2f} s on {default_threads()}")
    print("criterion by sweep:", " ".join(f"{value:.1f}" for value in first.history))

    recount, seconds = timed(lambda: class_criterion(text, first))
    n_moves = len(text.vocabulary) * (args.classes - 1)
    if n_sweeps:
        ratio = seconds * n_moves / (alone / n_sweeps)
        print(f"a sweep tries {n_moves} moves; recounting the text for each would take {ratio:.3g} times as long")

    best, seconds = cluster(args.runs, default_threads())
    print(f"{args.runs} runs: {seconds:.1f} s, criterion {best.criterion:.1f}; one run {recount:.1f}")
    if args.reference:
        theirs = class_criterion(text, WordClasses.read(args.reference, text.vocabulary))
        alike = class_criterion(text, word_classes(text, 1, runs=1))
        share = (class_criterion(text, best) - alike) / (theirs - alike)
        print(f"{args.reference}: criterion {theirs:.1f}; ours has {share:.2%} of its gain over a single class")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
