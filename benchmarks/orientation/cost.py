"""How the cost of training an orientation model grows with the corpus.

    python -m benchmarks.orientation.cost SRC TGT LINKS [--model mms] [--orientations five] [--sizes 20000 50000 185000]

Each size is trained in a separate process, including the computation of features; reading the text is not counted. Times
are wall-clock and processor times; the last column is the processor time per sample, relative to the first size: it is 1
for all sizes if the cost is linear in the number of samples.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks._measure import alone, existing, print_growth
from hyperbaton.corpus import Bitext
from hyperbaton.models import MODELS


def work(name: str, orientations: str, files: list[str], size: int, seed: int) -> dict[str, Any]:
    """Train on `size` pairs, drawn at random."""
    part = Bitext.read(*files).split({"train": size, "rest": -1}, seed=seed)["train"]
    clock, processors = time.perf_counter(), time.process_time()
    model = MODELS[name](orientations=orientations).fit(part)
    return {
        "pairs": size,
        "samples": int(model.class_counts_.sum()),
        "seconds": time.perf_counter() - clock,
        "processor_s": time.process_time() - processors,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar="FILE", help="SRC TGT LINKS", type=existing)
    parser.add_argument("--model", default="mms")
    parser.add_argument("--orientations", default="five")
    parser.add_argument("--sizes", nargs="+", type=int, default=[20_000, 50_000, 100_000, 185_000])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    each = (alone(work, options.model, options.orientations, options.files, size, options.seed) for size in options.sizes)
    print_growth(each, "samples")


if __name__ == "__main__":
    main()
