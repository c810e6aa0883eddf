"""Metrics by name: `bleu`, `BLEU`, or with options `bleu:tokenize=none:lowercase=yes`."""

from __future__ import annotations

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.base.registry import Registry
from hyperbaton.metrics._metric import Metric

METRICS: Registry[Metric] = Registry("metric", "hyperbaton.metrics", Metric)


def make_metric(text: str) -> Metric:
    """Make a metric from its name and options.

    >>> make_metric("chrF:word-order=2").word_order
    2
    >>> make_metric("bleu:token=none")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: unknown option 'token' (did you mean tokenize?); known: ...
    """
    return METRICS.make(text)


def metric_or_none(name: str) -> Metric | None:
    """The metric with the name of a score, or None if there is none."""
    try:
        return make_metric(name)
    except HyperbatonError:
        return None


def higher_is_better(name: str) -> bool:
    """Whether higher scores are better, according to the metric; true for unknown names.

    >>> higher_is_better("BLEU"), higher_is_better("TER:no-punct=yes"), higher_is_better("block accuracy")
    (True, False, True)
    """
    metric = metric_or_none(name)
    return metric is None or metric.higher_is_better
