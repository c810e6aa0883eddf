"""Time of one MERT optimisation on generated n-best lists.

    python -m benchmarks.tune.mert --sentences 2000 --size 100 --features 15 --restarts 20

Prints the time with one thread and with all threads, the BLEU of the lists before and after, and whether both results are
equal.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

from hyperbaton.base.progress import default_threads
from hyperbaton.metrics import make_metric
from hyperbaton.tune import OPTIMIZERS, CandidateLists
from hyperbaton.tune.optimizers import OptimizerJob


def generated(n_sentences: int, size: int, n_features: int, seed: int) -> CandidateLists:
    """n-best lists like a decoder's: features of different scales, and BLEU statistics that correlate with some of them."""
    rng = np.random.default_rng(seed)
    n = n_sentences * size
    scale = np.exp(rng.normal(size=n_features))
    features = rng.normal(size=(n, n_features))
    quality = 0.4 * features @ (rng.normal(size=n_features) / np.sqrt(n_features)) + rng.normal(size=n)
    length = np.repeat(rng.integers(8, 40, n_sentences), size) + rng.integers(-3, 4, n)
    rate = 1 / (1 + np.exp(-0.5 * quality))
    columns: list[npt.NDArray[np.float64]] = [length, np.repeat(length.reshape(n_sentences, size)[:, 0], size)]
    columns += [rng.binomial(length - k, 0.8 * rate ** (1 + k)) for k in range(4)]
    columns += [length - k for k in range(4)]
    statistics = np.column_stack(columns).astype(np.float64)
    keys = np.arange(n, dtype=np.uint64)
    return CandidateLists(np.ascontiguousarray(features * scale), statistics, keys, np.arange(0, n + 1, size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--features", type=int, default=15)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    lists = generated(args.sentences, args.size, args.features, args.seed)
    metric, start = make_metric("bleu"), np.ones(args.features)
    optimizer = OPTIMIZERS.make(f"mert:restarts={args.restarts}")
    results = []
    for threads in sorted({1, default_threads()}):
        clock, cpu = time.perf_counter(), time.process_time()
        results.append(optimizer.optimize(OptimizerJob(lists, metric, [start], args.seed, threads)))
        seconds, processor = time.perf_counter() - clock, time.process_time() - cpu
        print(f"{threads} threads: {seconds:.1f} s by the clock, {processor:.1f} s of processors")
    print(f"BLEU of the lists: {lists.value(metric, start):.2f} before, {lists.value(metric, results[0]):.2f} after")
    print(f"the same result: {all(np.array_equal(results[0], other) for other in results)}")


if __name__ == "__main__":
    main()
