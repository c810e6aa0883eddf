"""Prediction of the next position: accuracy, and the probability given to the actual jumps.

A jump goes from CP i to NP j; its distortion is j − i − 1. The model is right if no other position is more probable
than the true one. Accuracies are percentages.

Results with the model's own candidates come first, then results with every row normalised over the words not visited yet
and the end, regardless of the model's candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.align import Jumps, visit_order
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, offsets_of, ranges
from hyperbaton.base.errors import InputError
from hyperbaton.evaluate.model import Evaluation, HeldOut, evaluation_of
from hyperbaton.models import JumpLogProbs, NextPositionModel

# Distortions counted separately; farther ones are added to the last. GO13 Fig. 5 shows 3 … 20.
FARTHEST = 30
# Jumps scored at once: limits memory.
_CHUNK = 4_000_000

DIRECTIONS = {"back": (-FARTHEST, -2), "monotone": (0, 0), "forward": (1, FARTHEST)}


@dataclass(frozen=True)
class NextPositions(Evaluation):
    """Sums over jumps by distortion −FARTHEST … FARTHEST (the ends include farther ones), 2 · FARTHEST + 1 each.

    n: jumps made; right: those predicted; logprob: Σ log P(NP | CP). For all candidates of the CPs, made or not,
    n_candidates: their number; probability: Σ P(candidate | CP). `remaining_…`: normalised over the remaining words.
    """

    n_by_distortion: Array
    right: Array
    logprob: Array
    n_candidates: Array
    probability: Array
    remaining_right: Array
    remaining_logprob: Array

    shape: ClassVar = "next_position"
    figure: ClassVar = "accuracy"
    predicts: ClassVar = "next source words"

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
        return {d: 100 * self.right[d + FARTHEST] / self.n_by_distortion[d + FARTHEST] for d in self._seen()}

    @property
    def mean_logprob_by_distance(self) -> dict[int, float]:
        """Mean log P(NP | CP) by distortion."""
        return {d: float(self.logprob[d + FARTHEST] / self.n_by_distortion[d + FARTHEST]) for d in self._seen()}

    @property
    def by_direction(self) -> dict[str, dict[str, float]]:
        """n, accuracy and mean log-probability of jumps back, to the next word, and forward."""
        directions = {}
        for name, (low, high) in DIRECTIONS.items():
            here = slice(low + FARTHEST, high + FARTHEST + 1)
            n = int(self.n_by_distortion[here].sum())
            directions[name] = {
                "n": n,
                "accuracy": 100 * float(self.right[here].sum()) / max(n, 1),
                "mean_logprob": float(self.logprob[here].sum()) / max(n, 1),
            }
        return directions

    @property
    def average_probability(self) -> dict[int, float]:
        """The mean of P(candidate | CP) over all candidates at each distortion (GO13 Fig. 5)."""
        return _shares(self.probability, self.n_candidates)

    @property
    def corpus_probability(self) -> dict[int, float]:
        """The fraction of all jumps made with each distortion (CORPUS of GO13 Fig. 5)."""
        return _shares(self.n_by_distortion, np.full(2 * FARTHEST + 1, max(self.n, 1)))

    def as_json(self) -> dict[str, object]:
        """Everything as plain values."""
        return {
            "n": self.n,
            "accuracy": self.accuracy,
            "mean_logprob": self.mean_logprob,
            "remaining_accuracy": self.remaining_accuracy,
            "remaining_mean_logprob": self.remaining_mean_logprob,
            "accuracy_by_distance": {str(d): float(value) for d, value in self.accuracy_by_distance.items()},
            "mean_logprob_by_distance": {str(d): value for d, value in self.mean_logprob_by_distance.items()},
            "n_by_distance": {str(d): int(self.n_by_distortion[d + FARTHEST]) for d in self._seen()},
            "by_direction": self.by_direction,
            "average_probability": {str(d): value for d, value in self.average_probability.items()},
            "corpus_probability": {str(d): value for d, value in self.corpus_probability.items()},
        }

    def row(self) -> dict[str, object]:
        return {
            "n": self.n,
            "accuracy": round(self.accuracy, 2),
            **{name: round(part["accuracy"], 1) for name, part in self.by_direction.items()},
            "log p": round(self.mean_logprob, 4),
            "remaining accuracy": round(self.remaining_accuracy, 2),
            "remaining log p": round(self.remaining_mean_logprob, 4),
        }

    def _seen(self) -> list[int]:
        return [int(k) - FARTHEST for k in np.flatnonzero(self.n_by_distortion)]


def _shares(part: Array, whole: Array) -> dict[int, float]:
    return {int(k) - FARTHEST: float(part[k] / whole[k]) for k in np.flatnonzero(part)}


@evaluation_of.register
def _(model: NextPositionModel, held_out: HeldOut) -> NextPositions:
    bitext, annotations = held_out.bitext, held_out.annotations.only(model.needs)
    visits = visit_order(bitext.need_links(), threads=model.threads or None)
    visited = np.flatnonzero(np.diff(visits.offsets))
    if len(visited) == 0:
        raise InputError("nothing to predict: no sentence pair has links", bitext.source.path)
    total = np.zeros((7, 2 * FARTHEST + 1))
    for chunk in _chunks(bitext.source.lengths[visited]):
        sentences = visited[chunk]
        part, own = bitext.source.select(sentences), visits.select(sentences)
        logprobs = model.jump_logprobs(part, annotations.select(sentences))
        jumps = own.jumps(part.lengths)
        left = logprobs.remaining(own, threads=model.threads or None)
        all_rows = left.values if model.candidates == "remaining" else _rows(logprobs, jumps)
        total += np.concatenate([_sums(all_rows, part.lengths, jumps), _sums(left.values, part.lengths, jumps)[1:3]])
    counts = (0, 1, 3, 5)
    return NextPositions(*(row.astype(np.int64) if i in counts else row for i, row in enumerate(total)))


def _rows(logprobs: JumpLogProbs, jumps: Jumps) -> Array:
    """The rows of the CPs of all jumps, in order."""
    side = logprobs.lengths[jumps.sentence] + 1
    starts = logprobs.starts[jumps.sentence] + (jumps.current + 1) * side
    return logprobs.values[ranges(starts, side)]


def _sums(rows: Array, lengths: Array, jumps: Jumps) -> Array:
    """The first five sums of `NextPositions`, shape (5, 2 · FARTHEST + 1), from the rows of all jumps' CPs."""
    side = lengths[jumps.sentence] + 1
    starts = offsets_of(side)[:-1]
    best = np.maximum.reduceat(rows, starts)
    made = rows[starts + jumps.next]
    distortion = jumps.next - jumps.current - 1
    candidates = ranges(-jumps.current - 1, side)
    return np.stack(
        [
            _by_distortion(distortion, np.ones(len(made))),
            _by_distortion(distortion, made >= best),
            _by_distortion(distortion, made),
            _by_distortion(candidates, rows > -np.inf),
            _by_distortion(candidates, numeric.exp(rows)),
        ]
    )


def _by_distortion(distortion: Array, values: Array) -> Array:
    return np.bincount(np.clip(distortion, -FARTHEST, FARTHEST) + FARTHEST, weights=values, minlength=2 * FARTHEST + 1)


def _chunks(lengths: Array) -> Iterator[Array]:
    """Consecutive sentences with about _CHUNK jumps in total."""
    number = np.cumsum((lengths + 1) ** 2) // _CHUNK
    for chunk in np.unique(number):
        yield np.flatnonzero(number == chunk)
