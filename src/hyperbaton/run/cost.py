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
    "corpus": Rate(2, 0.1, 150, 2),
    "align": Rate(2, 6, 200, 20),
    "classes": Rate(2, 1, 150, 5),
    "movement": Rate(2, 0.3, 200, 20),
    "extract": Rate(2, 1, 200, 60),
    "lm": Rate(2, 0.3, 200, 10),
    "train": Rate(2, 1, 250, 40),
    "train dpr": Rate(3, 8, 300, 90),
    "train nine_class": Rate(3, 4, 300, 30),
    "train pair": Rate(3, 6, 300, 60),
    "train sequence": Rate(5, 20, 300, 60),
    "evaluate": Rate(3, 5, 300, 5, "test"),
    "system": Rate(3, 0.4, 250, 60),
    "tune": Rate(5, 600, 400, 20, "dev"),
    "translate": Rate(3, 60, 400, 20, "test"),
    "measure": Rate(3, 30, 200, 0, "test"),
    "score": Rate(10, 0, 250, 0),
}


def cost_of(kind: str, size: Size) -> Cost:
    """The cost of a stage; a kind with a model's name has its own figures, or those of the kind."""
    rate = RATES.get(kind) or RATES[kind.partition(" ")[0]]
    pairs = getattr(size, rate.split) / 1000
    return Cost(rate.seconds + rate.per_thousand * pairs, rate.mib + rate.mib_per_thousand * size.train / 1000)


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
