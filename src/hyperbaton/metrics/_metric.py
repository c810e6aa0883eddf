"""The base class of metrics: additive statistics of sentences, and a score of their sums.

Because the statistics add up, the score of any selection of sentences is the score of a sum of rows. Bootstrap
resampling, randomisation tests and tuning need no more. Metrics have names: `bleu`, `BLEU`, or with options
`bleu:tokenize=none:lowercase=yes`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.base.options import CheckedOptions, options_of
from hyperbaton.base.registry import Registry
from hyperbaton.metrics._outputs import Orders, Outputs

Statistics = npt.NDArray[np.float64]  # (n_hypotheses, n_statistics)
Values = npt.NDArray[np.float64]


@dataclass
class Metric(CheckedOptions, ABC):
    """A metric; subclasses give the statistics of sentences and the score of sums of them."""

    title: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    needs_orders: ClassVar[bool] = False

    @abstractmethod
    def statistics(self, outputs: Outputs) -> Statistics:
        """The statistics of each hypothesis, (n_hypotheses, n_statistics)."""

    @abstractmethod
    def score(self, sums: Statistics) -> Values:
        """The scores of sums of statistics, (..., n_statistics) → (...)."""

    def value(self, outputs: Outputs) -> float:
        """The score of all hypotheses together."""
        return float(self.score(self.statistics(outputs).sum(axis=0)))

    def signature(self, n_references: int) -> str:
        """The settings needed to reproduce the score."""
        from importlib.metadata import version  # slow to import

        parts = [f"nrefs:{n_references}"] + [f"{o.flag}:{_spelled(getattr(self, o.name))}" for o in options_of(type(self))]
        return "|".join([*parts, f"hyperbaton:{version('hyperbaton')}"])

    def objective(self) -> _core.Objective:
        """The metric as an objective that tuning maximises."""
        sign = 1.0 if self.higher_is_better else -1.0
        return _core.python_objective(lambda sums: np.ascontiguousarray(sign * self.score(sums), np.float64))

    def best_reference(self, statistics: Sequence[Statistics]) -> Statistics:
        """For each hypothesis, the statistics against the best-matching reference."""
        if len(statistics) == 1:
            return statistics[0]
        every = np.stack(statistics)
        scores = self.score(every)
        numbers = scores.argmax(axis=0) if self.higher_is_better else scores.argmin(axis=0)
        return every[numbers, np.arange(every.shape[1])]

    def need_orders(self, outputs: Outputs) -> Orders:
        """The visit orders of the hypotheses; raise InputError if they or those of the references are missing."""
        if outputs.orders is None or not outputs.reference_orders:
            raise InputError(f"{self.title} needs the links of the hypotheses and of the references to the source")
        return outputs.orders


def ratio(part: Values, whole: Values, nothing: float = 0.0) -> Values:
    """part / whole, and `nothing` where whole is 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([4.0, 0.0]), nothing=1.0).tolist()
    [0.25, 1.0]
    """
    ratios = np.full(np.broadcast(part, whole).shape, nothing)
    np.divide(part, whole, out=ratios, where=np.asarray(whole) != 0)
    return ratios


def error_rate(sums: Statistics) -> Values:
    """100 · edits / words of sums (edits, words); if the references have no words, any edit gives 100.

    >>> error_rate(np.array([[1.0, 4.0], [2.0, 0.0], [0.0, 0.0]])).tolist()
    [25.0, 100.0, 0.0]
    """
    edits, words = sums[..., 0], sums[..., 1]
    return 100 * ratio(edits, words, nothing=1.0) * ((words > 0) | (edits > 0))


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


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
