"""Metrics by name: `bleu`, `BLEU`, or with options `bleu:tokenize=none:lowercase=yes`."""

from __future__ import annotations

from hyperbaton.base.registry import Registry
from hyperbaton.metrics._metric import Metric

METRICS: Registry[Metric] = Registry("metric", "hyperbaton.metrics", Metric)


def make_metric(text: str) -> Metric:
    """Make a metric from its name and options.

    >>> make_metric("chrF:word-order=2").word_order
    2
    >>> make_metric("bleu:token=none")
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: unknown option 'token'; known: tokenize, lowercase, smooth, max-order
    """
    return METRICS.make(text)
