"""Rough cost estimates of stages before they run: processor seconds and MiB by the size of the corpus.

The figures were measured once, on Japanese–English text with 24 words per sentence, on one core of a small machine; they
serve only for planning memory and for a rough idea of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperbaton.run.stage import Cost


class Size(NamedTuple):
    """Number of sentence pairs of each split."""

    train: int
    dev: int
    test: int


class Rate(NamedTuple):
    """Processor seconds: fixed, and per 1,000 pairs of the relevant split; MiB: fixed, and per 1,000 training pairs."""

    seconds: float
    per_thousand: float
    mib: float
    mib_per_thousand: float
    split: str = "train"


def cost_of(rates: Mapping[str, Rate], sub: str, size: Size, times: int = 1, memory: int | None = None) -> Cost:
    """The cost of a stage that repeats its work `times` times; `sub` names the variant, which may have its own rates.

    `memory` is the largest number of bytes that it uses, None if it has no limit.

    >>> rates, size = {"": Rate(1, 2, 50, 10)}, Size(train=10_000, dev=0, test=0)
    >>> cost_of(rates, "", size).mib, cost_of(rates, "", size, memory=64 << 20).mib
    (150.0, 64.0)
    """
    rate = rates.get(sub) or rates[""]
    pairs = getattr(size, rate.split) / 1000
    mib = rate.mib + rate.mib_per_thousand * size.train / 1000
    seconds = rate.seconds + times * rate.per_thousand * pairs
    return Cost(seconds, mib if memory is None else min(mib, memory / 2**20))
