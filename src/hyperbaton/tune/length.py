"""The length of translations as a constraint of tuning, and at the end of it.

Weights learn the length of the development text's references, and translate other text with it. With an expected length,
tuning maximises

    metric · min(h/e, e/h)²        or minimises an error rate divided by this factor,

where h and e are the words of the translations and the expected ones. A metric changes by at most about its own share when
the length does: a translation that is one percent longer has one percent of BLEU more or less. A factor that takes two
percent is an exact penalty: the best translations have the expected length, and no multiplier has to be tuned. The factor
is a function of sums, so every optimizer can use it, with every metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.metrics import Metric, Outputs, Statistics, Values, count_words
from hyperbaton.tune.nbest import CandidateLists, Decode, Floats, first_of_each

if TYPE_CHECKING:
    from hyperbaton.corpus.lengths import TextLengths

DEVELOPMENT, TRAINING = "development", "training"
_COLUMNS = 3  # words of the translation, of the reference, and expected
_LEAST = 0.01  # ratio of lengths, so that errors stay finite
_ROUNDS, _ENOUGH = 6, 0.002  # of setting the length: translations of the text, and an error that is small enough
_HALVINGS = 50


@dataclass(frozen=True)
class TargetLength:
    """The expected words of each sentence, or a multiple of the reference's words; a constraint or not."""

    words: Floats | None = None
    ratio: float = 1.0
    is_constraint: bool = False


@dataclass(frozen=True)
class Length(CheckedOptions):
    """Options for the length of translations."""

    length: str = option(
        DEVELOPMENT,
        "length of translations: development leaves it to the metric, training keeps it at what the training text says, "
        "a number keeps it at this multiple of the references",
        metavar="development|training|RATIO",
    )
    at_length: bool = option(
        False, "at the end, set the word penalty so that the development text has this length on average"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._ratio

    @property
    def _ratio(self) -> float:
        if self.length in (DEVELOPMENT, TRAINING):
            return 1.0
        try:
            ratio = float(self.length)
        except ValueError:
            ratio = 0.0
        if not 0.1 <= ratio <= 10:
            raise OptionError(f"length must be {DEVELOPMENT}, {TRAINING}, or a number from 0.1 to 10, not {self.length!r}")
        return ratio

    def target(self, sentences: Sequence[str], lengths: TextLengths | None) -> TargetLength:
        """The target length of translations of sentences; `lengths` are those of the training text."""
        if self.length != TRAINING:
            return TargetLength(None, self._ratio, self.length != DEVELOPMENT)
        if lengths is None:
            raise OptionError(
                "the lengths of the training text are unknown: its phrases come from elsewhere, or were extracted by an "
                "earlier version; extract them again, or give a number as --length"
            )
        return TargetLength(lengths.expected(np.array([len(line.split()) for line in sentences], np.int64)), 1.0, True)


class MeasuredMetric(Metric):
    """A metric whose statistics have three more columns: words of the translation, of the reference, and expected."""

    def __init__(self, metric: Metric, target: TargetLength) -> None:
        self.metric, self.target = metric, target
        self.title, self.higher_is_better = metric.title, metric.higher_is_better  # type: ignore[misc]

    def statistics(self, outputs: Outputs) -> Statistics:
        target, words = self.target, count_words(outputs)
        expected = target.ratio * words[:, 1] if target.words is None else target.words[outputs.line]
        return np.column_stack([self.metric.statistics(outputs), words, expected])

    def plain(self, sums: Statistics) -> Values:
        """The metric alone."""
        return self.metric.score(sums[..., :-_COLUMNS])

    def unconstrained(self) -> MeasuredMetric:
        """A metric with these statistics that is scored without the constraint."""
        return MeasuredMetric(self.metric, replace(self.target, is_constraint=False))

    def score(self, sums: Statistics) -> Values:
        plain = self.plain(sums)
        if not self.target.is_constraint:
            return plain
        words, expected = sums[..., -3], sums[..., -1]
        larger = np.maximum(words, expected)
        ratio = np.divide(np.minimum(words, expected), larger, out=np.ones_like(larger), where=larger > 0)
        factor = np.maximum(ratio, _LEAST) ** 2
        return plain * factor if self.higher_is_better else plain / factor

    def lengths(self, sums: Statistics) -> tuple[float, float]:
        """Words of the translations, and expected words, for each word of the references."""
        words, reference, expected = sums[-_COLUMNS:].tolist()
        return (words / reference, expected / reference) if reference else (1.0, 1.0)

    def objective(self) -> _core.Objective:
        return super().objective() if self.target.is_constraint else self.metric.objective()


class AtLength(NamedTuple):
    """Weights with another word penalty: the metric of their translations, and words for each reference word."""

    weights: Floats
    score: float
    length: float


def set_length(
    decode: Decode, weights: Floats, penalty: int, references: Sequence[Sequence[str]], metric: MeasuredMetric
) -> AtLength:
    """Change one weight, that of the word penalty, until the translations have the expected length on average.

    Each round solves for the weight on all n-best lists so far, and translates with it; the closest round is returned.
    """
    lists, rounds = CandidateLists.empty(len(references[0]), len(weights)), list[tuple[float, AtLength]]()
    for _ in range(_ROUNDS):
        nbest = decode(weights)
        statistics = metric.statistics(Outputs.of(nbest.hypotheses, *references, line=nbest.sentence))
        sums = statistics[first_of_each(nbest)].sum(axis=0)
        words, expected = metric.lengths(sums)
        rounds.append((abs(words - expected), AtLength(weights, float(metric.plain(sums)), words)))
        if rounds[-1][0] <= _ENOUGH * expected:
            break
        lists = lists.with_new(nbest, statistics)
        weights = _solved(lists, weights, penalty)
    return min(rounds, key=lambda round: round[0])[1]


def _solved(lists: CandidateLists, weights: Floats, penalty: int) -> Floats:
    """The weights with the word penalty nearest to the old one under which the lists have the expected length."""

    def at(value: float) -> tuple[Floats, float]:
        changed = weights.copy()
        changed[penalty] = value
        words, _, expected = lists.statistics[lists.best(lists.scores(changed)), -_COLUMNS:].sum(axis=0)
        return changed, float(words - expected)

    begin = float(weights[penalty])
    # A translation with more words has a lower feature, so a higher weight makes translations shorter.
    step = float(np.copysign(np.abs(weights).sum(), at(begin)[1]))
    near, far = begin, begin + step
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        is_past = at(middle)[1] * step < 0
        near, far = (near, middle) if is_past else (middle, far)
    return at(far)[0]
