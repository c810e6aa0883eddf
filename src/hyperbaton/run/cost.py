"""Rough cost estimates of stages before they run: processor seconds and MiB by the size of the corpus.

The figures were measured once, on a small machine and Japanese–English text, in sentences of `WORDS` words; `slowness`
compares this machine with that one. They serve only for planning memory and for a rough idea of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import NamedTuple

from hyperbaton.run.stage import Cost

WORDS = 12  # in the sentences of a size
REFERENCE_SECONDS = 0.35  # of processor time that `sample_work` took on the machine of the figures


class Size(NamedTuple):
    """Number of sentence pairs of each split; longer ones count more than once."""

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


def sample_work() -> None:
    """A small piece of work in Python and in the core, always the same."""
    from hyperbaton.align.aligners.hmm import Aligner
    from hyperbaton.data import generate

    Aligner().fit(generate(100, style="japanese", seed=1).bitext, threads=1)


def slowness(work: Callable[[], object] = sample_work, clock: Callable[[], float] = time.process_time) -> float:
    """How much longer this machine takes than that of the figures, in processor time; the faster of two runs counts.

    >>> round(slowness(lambda: None, iter([10.0, 10.9, 11.6]).__next__), 3)
    2.0
    """
    times = [clock()]
    for _ in range(2):
        work()
        times.append(clock())
    return min(after - before for before, after in pairwise(times)) / REFERENCE_SECONDS


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
