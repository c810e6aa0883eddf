"""What stages cost, roughly, before they run: processor seconds and MiB by the size of the corpus.

The figures are measured once, on Japanese–English text of 24 words a sentence, on one core of a small machine; they are for
planning what fits into memory and how long to be away, no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from hyperbaton.corpus.files import read_byte_lines
from hyperbaton.run.experiment import SPLITS, Experiment
from hyperbaton.run.stage import Cost


class Size(NamedTuple):
    """Sentence pairs of each split."""

    train: int
    dev: int
    test: int


class Rate(NamedTuple):
    """Processor seconds: once, and for 1,000 pairs of the split that matters; MiB: once, and for 1,000 training pairs."""

    seconds: float
    per_thousand: float
    mib: float
    mib_per_thousand: float
    split: str = "train"


RATES: Mapping[str, Rate] = {
    "generate": Rate(2, 0.9, 150, 1),
    "corpus": Rate(2, 0.05, 120, 1),
    "align": Rate(2, 6, 200, 20),
    "classes": Rate(2, 1, 150, 5),
    "movement": Rate(1, 0.08, 60, 4),
    "extract": Rate(1, 0.2, 60, 15),
    "lm": Rate(1, 0.1, 60, 4),
    "train": Rate(1, 0.1, 60, 15),
    "train dpr": Rate(2, 1.8, 100, 45),
    "train block_me": Rate(2, 3.5, 150, 8),
    "train nine_class": Rate(1, 1.5, 80, 10),
    "train pair": Rate(2, 15, 100, 55),
    "train sequence": Rate(3, 22, 150, 87),
    "evaluate": Rate(1, 1, 80, 15, "test"),
    "system": Rate(1, 0.2, 60, 25),
    "tune": Rate(3, 12, 130, 12, "dev"),
    "translate": Rate(1, 10, 100, 15, "test"),
    "tune block_me": Rate(3, 20, 130, 15, "dev"),
    "translate block_me": Rate(1, 17, 100, 20, "test"),
    "measure": Rate(1, 1, 100, 0, "test"),
    "score": Rate(5, 0, 100, 0),
}


def cost_of(kind: str, size: Size, times: int = 1) -> Cost:
    """The cost of a stage that does its work so many times; a kind with a model's name may have figures of its own."""
    rate = RATES.get(kind) or RATES[kind.partition(" ")[0]]
    pairs = getattr(size, rate.split) / 1000
    return Cost(rate.seconds + times * rate.per_thousand * pairs, rate.mib + rate.mib_per_thousand * size.train / 1000)


def size_of(experiment: Experiment) -> Size:
    """Count the lines that each split will have, before cleaning."""
    corpus = experiment.corpus
    if corpus.generating is not None:
        n = corpus.generating
        return Size(n.sentences - n.dev - n.test, n.dev, n.test)

    def lines(split: str) -> int:
        limits = corpus.limits[split]
        wanted = limits.skip + limits.lines if limits.lines else None
        return max(sum(1 for _ in islice(read_byte_lines(corpus.files[split]["source"]), wanted)) - limits.skip, 0)

    return Size(*(lines(split) for split in SPLITS))
