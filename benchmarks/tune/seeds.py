"""Gain from tuning on held-out text, and its variation between seeds.

    python -m benchmarks.tune.seeds SYSTEM DEV.SRC DEV.REF TEST.SRC TEST.REF --seeds 1 2 3 --optimizer mert

Tunes the system once for each seed on the development text, and translates the test text with the system's own weights,
with all weights 1, and with each result. Prints BLEU on both texts, the number of iterations, why tuning stopped, processor
time, and the mean, standard deviation and range of the test scores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System, Translator, annotate
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune import Tuning, tune
from hyperbaton.tune.system import SystemDecoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system")
    for name in ("source", "reference", "test_source", "test_reference"):
        parser.add_argument(name)
    parser.add_argument("--source-tags")
    parser.add_argument("--test-tags")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--nbest", type=int, default=100)
    parser.add_argument("--lattice", action="store_true")
    parser.add_argument("--pop-limit", type=int, help="the search's, for tuning and testing; default the system's")
    parser.add_argument("--optimizer", default=Tuning().optimizer)
    parser.add_argument("--iterations", type=int, default=Tuning().iterations)
    parser.add_argument("--patience", type=int, default=Tuning().patience)
    parser.add_argument("--metric", default="bleu:tokenize=none")
    args = parser.parse_args()

    system, metric = System.load(args.system), make_metric(args.metric)
    source, reference = list(read_lines(args.source)), list(read_lines(args.reference))
    test, test_reference = list(read_lines(args.test_source)), list(read_lines(args.test_reference))
    tags = None if args.source_tags is None else list(read_lines(args.source_tags))
    test_tags = None if args.test_tags is None else list(read_lines(args.test_tags))
    decoding = system.options if args.pop_limit is None else replace(system.options, pop_limit=args.pop_limit)
    decoder = SystemDecoder(
        system,
        source,
        annotations=annotate(source, tags=tags),
        n_best=args.nbest,
        lattice=args.lattice,
        options=decoding,
    )

    def score(weights: Sequence[float], lines: list[str], labels: list[str] | None, expected: list[str]) -> float:
        translated = Translator(decoder.with_weights(np.array(weights)), decoding).translate(
            lines, annotations=annotate(lines, tags=labels)
        )
        return metric.value(Outputs.of(translated, expected))

    def say(*fields: object) -> None:
        print(*(f"{x:.2f}" if isinstance(x, float) else x for x in fields), sep="\t", flush=True)

    say("weights", "dev", "test", "iterations", "seconds", "ended")
    for name, weights in (("start", decoder.start), ("uniform", np.ones(len(decoder.start)))):
        say(name, score(weights, source, tags, reference), score(weights, test, test_tags, test_reference))
    options = Tuning(metric=args.metric, optimizer=args.optimizer, iterations=args.iterations, patience=args.patience)
    scores = []
    for seed in args.seeds:
        cpu = time.process_time()
        tuned = tune(decoder, decoder.start, [reference], options, seed=seed)
        seconds = time.process_time() - cpu
        scores.append(score(tuned.weights, test, test_tags, test_reference))
        say(seed, tuned.score, scores[-1], len(tuned.history) - 1, seconds, tuned.failure or tuned.stopped)
    deviation = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    say(f"mean {np.mean(scores):.2f}, deviation {deviation:.2f}, spread {max(scores) - min(scores):.2f}")


if __name__ == "__main__":
    main()
