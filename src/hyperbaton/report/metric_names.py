"""Titles of metrics, and whether higher or lower is better."""

from __future__ import annotations

from typing import Literal

from hyperbaton.metrics import higher_is_better, metric_or_none

# NIST runs from 0 to about 10; the others from 0 to 100.
_DECIMALS = {"NIST": 3}


def title_of(name: str) -> str:
    """A metric's title, with its given options.

    >>> title_of("bleu"), title_of("bleu:tokenize=none"), title_of("mine")
    ('BLEU', 'BLEU:tokenize=none', 'mine')
    """
    metric = metric_or_none(name)
    _, colon, options = name.partition(":")
    return name if metric is None else metric.title + colon + options


def wanted(name: str) -> Literal["high", "low"]:
    """Which scores of a metric are better.

    >>> wanted("TER"), wanted("BLEU")
    ('low', 'high')
    """
    return "high" if higher_is_better(name) else "low"


def decimals_of(name: str) -> int:
    """The number of digits of a metric."""
    return _DECIMALS.get(title_of(name).partition(":")[0], 2)
