"""How the cost of training the block model grows with the corpus.

    python -m benchmarks.block.cost DATA [--sizes 20000 50000 185000] [--passes 10]

DATA is the folder of corpora; the text consists of sentence pairs of Chinese laws, those with trees first. Each size is
trained in a separate process, with a fixed number of passes; reading the text is not counted. The last column is the
processor time per step of the paths, relative to the first size: it is 1 for all sizes if the cost is linear in the number
of steps.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._measure import alone, existing, print_growth
from benchmarks.block.data import Part, prepare
from hyperbaton.corpus.classes import word_classes
from hyperbaton.models.block_me import BlockMe


def work(data: str, size: int, passes: int) -> dict[str, Any]:
    """Train on `size` pairs."""
    with TemporaryDirectory() as folder:
        prepare(Path(data), Path(folder), size, 1, 1, 1)
        train = Part(Path(folder), "train")
        bitext = train.bitext()
        known = train.known(bitext)
    classes = word_classes(bitext.target, 40, runs=1, sweeps=2)
    clock, processors = time.perf_counter(), time.process_time()
    model = BlockMe(learner=f"lbfgs:max-passes={passes}:tolerance=0")
    model.fit(bitext, replace(known, target_classes=classes))
    return {
        "pairs": len(bitext),
        "steps": model.table_.n_steps,
        "features": model.n_features,
        "seconds": time.perf_counter() - clock,
        "processor_s": time.process_time() - processors,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DATA", type=existing)
    parser.add_argument("--sizes", nargs="+", type=int, default=[20_000, 50_000, 100_000, 185_000])
    parser.add_argument("--passes", type=int, default=10)
    options = parser.parse_args()
    print_growth((alone(work, options.data, size, options.passes) for size in options.sizes), "steps")


if __name__ == "__main__":
    main()
