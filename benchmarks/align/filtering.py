"""How well scores separate true sentence pairs from false ones: a fraction of the target lines is shuffled before training.

    python -m benchmarks.align.filtering SRC TGT --pairs 20000 --shuffled 0.3

prints, for several thresholds, the fractions of true and of shuffled pairs that are kept: with the scores of an aligner
trained on the same pairs, and with those of an aligner trained on the other half of the text.
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks._measure import existing

from hyperbaton.align import Aligner, cross_logprobs, pair_gains
from hyperbaton.corpus import Bitext, Links, Text

CUTS = (-2.0, -1.75, -1.5, -1.25, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=existing)
    parser.add_argument("target", type=existing)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--shuffled", type=float, default=0.3, help="share of target lines that change places")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    n = options.pairs
    source, target = (Text.read(path).select(np.arange(n)) for path in (options.source, options.target))
    rng = np.random.default_rng(options.seed)
    moved = rng.permutation(n)[: int(options.shuffled * n)]
    order = np.arange(n)
    order[moved] = np.roll(moved, 1)
    bitext = Bitext(source, target.select(order))
    true = order == np.arange(n)
    aligner = Aligner().fit(bitext)
    own = aligner.score(bitext, Links.of([[] for _ in range(n)])).logprobs
    kinds = {"same text": pair_gains(bitext, own), "other half": pair_gains(bitext, cross_logprobs(bitext))}
    print("cut", *(f"{kind}: {what} kept %" for kind in kinds for what in ("true", "shuffled")), sep="\t")
    for cut in CUTS:
        shares = [100 * np.mean(values[which] >= cut) for values in kinds.values() for which in (true, ~true)]
        print(cut, *(f"{share:.1f}" for share in shares), sep="\t")


if __name__ == "__main__":
    main()
