"""Prediction of the next position: accuracy, and the probability given to the actual jumps.

A jump goes from CP i to NP j; its distortion is j − i − 1. The model is right if no other position is more probable
than the true one. Accuracies are percentages.

Results with the model's own candidates come first, then results with every row normalised over the words not visited yet
and the end, regardless of the model's candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from hyperbaton.align import Jumps, VisitOrders, visit_order
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, offsets_of, ranges
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Annotations, Text
from hyperbaton.evaluate.base import Evaluation, HeldOut, evaluation_of
from hyperbaton.models import JumpLogProbs, NextPositionModel

# Distortions counted separately; farther ones are added to the last. GO13 Fig. 5 shows 3 … 20.
FARTHEST = 30
# Distortions of one distance class of PAIR and SEQUENCE: candidates differ in their words, but not in their distance.
FAR = range(5, 21)
# Jumps scored at once: limits memory.
_CHUNK = 4_000_000

# Where the distortions of a direction are in arrays over −FARTHEST … FARTHEST.
DIRECTIONS = {"back": slice(FARTHEST - 1), "monotone": slice(FARTHEST, FARTHEST + 1), "forward": slice(FARTHEST + 1, None)}


@dataclass(frozen=True)
class NextPositions(Evaluation):
    """Sums over jumps by distortion −FARTHEST … FARTHEST (the ends include farther ones), 2 · FARTHEST + 1 each.

    n: jumps made; right: those predicted; logprob: Σ log P(NP | CP). For all candidates of the CPs, made or not,
    n_candidates: their number; probability: Σ P(candidate | CP). `far_…`: jumps and probability of the CPs that have a word
    as candidate at every distortion of FAR, so that all distortions are compared on the same CPs. `remaining_…`: normalised
    over the remaining words. class_probability: Σ p(class of the candidate), by classifier of a model with classes.
    """

    n_by_distortion: Array
    right: Array
    logprob: Array
    n_candidates: Array
    probability: Array
    far_jumps: Array
    far_probability: Array
    remaining_right: Array
    remaining_logprob: Array
    class_probability: Mapping[str, Array] = field(kw_only=True)

    shape: ClassVar = "next_position"
    figure: ClassVar = "accuracy"
    predicts: ClassVar = "next source words"
    figures: ClassVar = (
        *("n", "accuracy", "mean_logprob", "remaining_accuracy", "remaining_mean_logprob"),
        *("accuracy_by_distance", "mean_logprob_by_distance", "n_by_distance", "by_direction"),
        *("average_probability", "corpus_probability", "far_average_probability", "far_corpus_probability"),
        "average_class_probability",
    )

    @property
    def n(self) -> int:
        """Number of jumps."""
        return int(self.n_by_distortion.sum())

    @property
    def accuracy(self) -> float:
        """Percent of jumps whose NP is predicted."""
        return 100 * float(self.right.sum()) / max(self.n, 1)

    @property
    def mean_logprob(self) -> float:
        """Mean log P(NP | CP)."""
        return float(self.logprob.sum()) / max(self.n, 1)

    @property
    def remaining_accuracy(self) -> float:
        """Percent of jumps whose NP is predicted among the remaining words and the end."""
        return 100 * float(self.remaining_right.sum()) / max(self.n, 1)

    @property
    def remaining_mean_logprob(self) -> float:
        """Mean log P(NP | CP, visited), normalised over the remaining words and the end."""
        return float(self.remaining_logprob.sum()) / max(self.n, 1)

    @property
    def accuracy_by_distance(self) -> dict[int, float]:
        """Percent right by distortion."""
        return _shares(100 * self.right, self.n_by_distortion)

    @property
    def mean_logprob_by_distance(self) -> dict[int, float]:
        """Mean log P(NP | CP) by distortion."""
        return _shares(self.logprob, self.n_by_distortion)

    @property
    def by_direction(self) -> dict[str, dict[str, float]]:
        """n, accuracy and mean log-probability of jumps back, to the next word, and forward."""
        directions = {}
        for name, here in DIRECTIONS.items():
            n, right, logprob = (float(sums[here].sum()) for sums in (self.n_by_distortion, self.right, self.logprob))
            directions[name] = {"n": int(n), "accuracy": 100 * right / max(n, 1), "mean_logprob": logprob / max(n, 1)}
        return directions

    @property
    def average_probability(self) -> dict[int, float]:
        """The mean of P(candidate | CP) over all candidates at each distortion (GO13 Fig. 5)."""
        return {d: mean for d, mean in _shares(self.probability, self.n_candidates).items() if mean}

    @property
    def far_average_probability(self) -> dict[int, float]:
        """The mean of P(candidate | CP) at each distortion of FAR, over the CPs that have all these candidates."""
        return self._of_far_cps(self.far_probability)

    @property
    def far_corpus_probability(self) -> dict[int, float]:
        """The fraction of jumps from the same CPs made with each distortion of FAR."""
        return self._of_far_cps(self.far_jumps)

    @property
    def average_class_probability(self) -> dict[str, dict[int, float]]:
        """The mean of p(class of the candidate) at each distortion, by classifier (GO13 footnote 16)."""
        return {part: _shares(sums, self.n_candidates) for part, sums in self.class_probability.items()}

    @property
    def corpus_probability(self) -> dict[int, float]:
        """The fraction of all jumps made with each distortion (CORPUS of GO13 Fig. 5)."""
        return {d: n / max(self.n, 1) for d, n in self.n_by_distance.items()}

    def row(self) -> dict[str, object]:
        return {
            "n": self.n,
            "accuracy": round(self.accuracy, 2),
            **{name: round(part["accuracy"], 1) for name, part in self.by_direction.items()},
            "log p": round(self.mean_logprob, 4),
            "remaining accuracy": round(self.remaining_accuracy, 2),
            "remaining log p": round(self.remaining_mean_logprob, 4),
        }

    def _of_far_cps(self, sums: Array) -> dict[int, float]:
        n = float(self.far_jumps.sum())  # each CP makes one jump
        return {d: float(sums[d + FARTHEST]) / n for d in FAR if sums[d + FARTHEST]}

    @property
    def n_by_distance(self) -> dict[int, int]:
        """Number of jumps by distortion."""
        return {int(k) - FARTHEST: int(self.n_by_distortion[k]) for k in np.flatnonzero(self.n_by_distortion)}


def _shares(part: Array, whole: Array) -> dict[int, float]:
    """The ratio of two sums at every distortion that occurs."""
    return {int(k) - FARTHEST: float(part[k] / whole[k]) for k in np.flatnonzero(whole)}


@evaluation_of.register
def _(model: NextPositionModel, held_out: HeldOut) -> NextPositions:
    bitext = held_out.bitext
    visits = visit_order(bitext.need_links(), threads=model.threads or None)
    if len(visits.positions) == 0:
        raise InputError("nothing to predict: no sentence pair has links", bitext.source.path)
    total = np.zeros((9, 2 * FARTHEST + 1))
    of_classes = np.zeros((len(model.classifiers), 2 * FARTHEST + 1))
    for part in scored_jumps(model, bitext.source, visits, held_out.annotations):
        lengths, jumps = part.logprobs.lengths, part.jumps
        all_rows = part.remaining if model.candidates == "remaining" else _rows(part.logprobs, jumps)
        total += np.concatenate([_sums(all_rows, lengths, jumps), _sums(part.remaining, lengths, jumps)[1:3]])
        text = bitext.source.select(part.sentences)
        annotations = held_out.annotations.only(model.needs).select(part.sentences)
        for sums, classifier in zip(of_classes, model.classifiers, strict=True):
            sums += _sums(_rows(classifier.jump_logprobs(text, annotations), jumps), lengths, jumps)[4]
    counts = (0, 1, 3, 5, 7)
    return NextPositions(
        *(row.astype(np.int64) if i in counts else row for i, row in enumerate(total)),
        class_probability={c.part: sums for c, sums in zip(model.classifiers, of_classes, strict=True)},
    )


class ScoredJumps(NamedTuple):
    """The jumps of some sentences, with log-probabilities.

    `remaining` has a row for the CP of each jump, in order: log P(NP | CP, visited) of all words of its sentence and EOS.
    The row of jump k begins at `starts[k]`.
    """

    sentences: Array  # their numbers
    jumps: Jumps  # in sentences counted from the first of `sentences`
    logprobs: JumpLogProbs
    remaining: Array
    starts: Array


def scored_jumps(
    model: NextPositionModel, source: Text, visits: VisitOrders, annotations: Annotations
) -> Iterator[ScoredJumps]:
    """Score the jumps of visit orders, some sentences at a time; sentences without a visit are left out."""
    visited, annotations = np.flatnonzero(np.diff(visits.offsets)), annotations.only(model.needs)
    for chunk in _chunks(source.lengths[visited]):
        sentences = visited[chunk]
        part, orders = source.select(sentences), visits.select(sentences)
        logprobs, jumps = model.jump_logprobs(part, annotations.select(sentences)), orders.jumps(part.lengths)
        remaining = logprobs.remaining(orders, threads=model.threads or None).values
        yield ScoredJumps(sentences, jumps, logprobs, remaining, offsets_of(part.lengths[jumps.sentence] + 1)[:-1])


def _rows(logprobs: JumpLogProbs, jumps: Jumps) -> Array:
    """The rows of the CPs of all jumps, in order."""
    side = logprobs.lengths[jumps.sentence] + 1
    starts = logprobs.starts[jumps.sentence] + (jumps.current + 1) * side
    return logprobs.values[ranges(starts, side)]


def _sums(rows: Array, lengths: Array, jumps: Jumps) -> Array:
    """The first seven sums of `NextPositions`, shape (7, 2 · FARTHEST + 1), from the rows of all jumps' CPs."""
    side = lengths[jumps.sentence] + 1
    starts = offsets_of(side)[:-1]
    logprobs = rows[starts + jumps.next]
    distortions = ranges(-jumps.current - 1, side)
    jumped, candidates = (
        np.clip(distortion, -FARTHEST, FARTHEST) + FARTHEST for distortion in (jumps.next - jumps.current - 1, distortions)
    )
    probabilities = numeric.exp(rows)
    is_far = (rows > -np.inf) & (distortions >= FAR.start) & (distortions < FAR.stop)
    is_far[starts + side - 1] = False  # EOS
    has_all = np.add.reduceat(is_far, starts, dtype=np.int64) == len(FAR)
    summed = [
        (jumped, values) for values in (np.ones(len(logprobs)), logprobs >= np.maximum.reduceat(rows, starts), logprobs)
    ]
    summed += [(candidates, rows > -np.inf), (candidates, probabilities)]
    summed += [(jumped, has_all), (candidates, probabilities * np.repeat(has_all, side))]
    return np.stack([np.bincount(places, weights=values, minlength=2 * FARTHEST + 1) for places, values in summed])


def _chunks(lengths: Array) -> Iterator[Array]:
    """Consecutive sentences with about _CHUNK jumps in total."""
    number = np.cumsum((lengths + 1) ** 2) // _CHUNK
    for chunk in np.unique(number):
        yield np.flatnonzero(number == chunk)
