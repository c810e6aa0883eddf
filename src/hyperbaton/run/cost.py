"""What stages cost, roughly, before they run: processor seconds and MiB by the size of the corpus.

The figures are measured once, on Japanese–English text of 24 words a sentence, on one core of a small machine; they are for
planning what fits into memory and how long to be away, no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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


def cost_of(rates: Mapping[str, Rate], sub: str, size: Size, times: int = 1, memory: int | None = None) -> Cost:
    """The cost of a stage that does its work so many times; `sub` says what exactly, which may have figures of its own.

    `memory` is the number of bytes that it takes at most, None if it knows no limit.

    >>> rates, size = {"": Rate(1, 2, 50, 10)}, Size(train=10_000, dev=0, test=0)
    >>> cost_of(rates, "", size).mib, cost_of(rates, "", size, memory=64 << 20).mib
    (150.0, 64.0)
    """
    rate = rates.get(sub) or rates[""]
    pairs = getattr(size, rate.split) / 1000
    mib = rate.mib + rate.mib_per_thousand * size.train / 1000
    seconds = rate.seconds + times * rate.per_thousand * pairs
    return Cost(seconds, mib if memory is None else min(mib, memory / 2**20))
