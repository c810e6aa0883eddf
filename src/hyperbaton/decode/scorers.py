"""Adapters from reordering models to the search: the scores of each of the three shapes for a batch of sentences.

Any class with the methods of a shape (`models/shapes/protocols.py`) can be a reordering model of a system. Scores are
natural logs of probabilities, or any score where higher is better. Values below −100 count as −100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.base.picklable import Picklable
from hyperbaton.models import Batch, PerJump, PerOption, PerStep, needed
from hyperbaton.phrases import DistanceSet, MosesSet, OrientationSet, ReorderingType, orientation_set
from hyperbaton.phrases.coverage import possible_of_spans, states_of_spans
from hyperbaton.phrases.orientation import Side
from hyperbaton.phrases.reordering import DistinctRows

if TYPE_CHECKING:
    from hyperbaton.models import JumpLogProbs

FLOOR = -100.0
LOWEST_SCORE = -1e4  # for scores that are normalised later
# The lowest score if 1/p multiplies a distance (NI11 eq. 7): an unseen class is expensive, but no step is infinite.
LEAST = -20.0


@dataclass(frozen=True)
class OptionScores:
    """Scores (n_options, n_classes) of the orientation classes of options, relative to the previous or next phrase.

    They are log-probabilities, or with `times_distance` factors of the distance. At a step, `coverage` weights are added,
    and `possible` normalises over the possible classes.
    """

    scores: Array
    orientations: OrientationSet
    side: Side
    times_distance: bool = False
    possible: bool = False
    coverage: Array | None = None

    def logprobs(self, options: Array, possible: Array | None = None, states: Array | None = None) -> Array:
        """Log-probabilities (n, n_classes) of options, each with its possible classes and its coverage state."""
        from hyperbaton.models import normalised  # which imports the base classes of models; tables do without

        return normalised(self.coverage, self.scores[options].astype(np.float64), possible, states)

    def step_logprobs(self, options: Array, spans: Sequence[tuple[int, int]], n_words: int) -> Array:
        """Log-probabilities (n_steps, n_classes) of the options of a path, given the words translated before each."""
        if not self.possible and self.coverage is None:
            return self.logprobs(options)
        visited = np.zeros((len(spans), n_words), bool)
        for at, (begin, end) in enumerate(spans):
            visited[at + 1 :, begin:end] = True
        orientations, possible = self.orientations, None
        if self.possible:
            possible = possible_of_spans(orientations.possible_classes, len(orientations), visited, spans)
        return self.logprobs(options, possible, states_of_spans(visited, spans))

    def scorer(self, weights: list[float]) -> _core.OptionScorer:
        """The scorer of the search, with one weight, or one for each class."""
        orientations = self.orientations
        if self.scores.shape[1] != len(orientations):
            raise OptionError(f"a model of {len(orientations)} classes gave {self.scores.shape[1]} scores for each option")
        rule, cuts, merge = _core.StepRule.distance, [], [0, 0, 0, 0]
        if isinstance(orientations, MosesSet):
            rule = _core.StepRule.hierarchical if orientations.unit == "hierarchical" else _core.StepRule.neighbour
            merge = list(orientations.merge)
        elif isinstance(orientations, DistanceSet):
            cuts = list(orientations.cuts)
        else:
            raise OptionError("the decoder supports only orientation sets of distances and Moses' sets")
        given = None
        if self.possible or self.coverage is not None:
            given = _core.GivenCoverage(
                possible=orientations.possible_classes if self.possible else None,
                weights=None if self.coverage is None else np.ascontiguousarray(self.coverage, np.float32),
            )
        floor = -np.inf if self.times_distance else FLOOR
        return _core.OptionScorer(
            scores=np.ascontiguousarray(np.maximum(self.scores, floor), np.float32),
            weights=list(weights),
            rule=rule,
            side=_core.Side[self.side],
            cuts=cuts,
            merge=merge,
            times_distance=self.times_distance,
            given=given,
        )


class Reordering(Protocol):
    """A reordering model of a system: its features, and its scorers for a batch of sentences."""

    @property
    def n_features(self) -> int: ...

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        """The scorers, whose features together are the model's, in order."""

    def class_scores(self, batch: Batch) -> list[OptionScores]:
        """The scores of orientation classes, one for each side of a table; none for models without classes."""


@dataclass(frozen=True)
class ReorderingTable(Picklable):
    """A lexicalized reordering table as in Moses.

    `probabilities`: a row for each phrase pair (or source phrase) of the system's phrase table, a block of columns for
    each side; NaN if the table has no row, which costs nothing. `collapse`: one feature for each side instead of each
    class.
    """

    kind: ReorderingType
    probabilities: npt.NDArray[np.float32] | DistinctRows
    collapse: bool = False

    @cached_property
    def orientations(self) -> OrientationSet:
        """Its orientation set."""
        return self.kind.set

    @property
    def distinct_rows(self) -> DistinctRows:
        """The probabilities, with each distinct row once."""
        return self.probabilities if isinstance(self.probabilities, DistinctRows) else DistinctRows.of([self.probabilities])

    @property
    def n_features(self) -> int:
        """Number of scores for each phrase pair, and of weights."""
        return len(self.kind.sides) * (1 if self.collapse else len(self.orientations))

    def class_scores(self, batch: Batch) -> list[OptionScores]:
        """The scores of each side."""
        rows = batch.sources if self.kind.conditioning == "f" else batch.pairs
        # Sentences share most of their options, so each row is read once for all of them.
        distinct, row_of = np.unique(np.where(batch.pairs >= 0, rows, -1), return_inverse=True)
        known = distinct >= 0
        scores = np.zeros((len(distinct), self.probabilities.shape[1]), np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores[known] = np.nan_to_num(numeric.log(self.probabilities[distinct[known]]), nan=0.0, posinf=-FLOOR)
        n = len(self.orientations)
        return [
            OptionScores(scores[row_of, i * n : (i + 1) * n], self.orientations, side)
            for i, side in enumerate(self.kind.sides)
        ]

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        """The scorers for a batch of sentences."""
        width = self.n_features // len(self.kind.sides)
        sides = enumerate(self.class_scores(batch))
        return [scores.scorer(weights[i * width : (i + 1) * width]) for i, scores in sides]


@dataclass(frozen=True)
class ModelUse:
    """A reordering model, built-in or third-party, and how the decoder uses it; it has one feature by default.

    `use`: `direct`, log p, or `scaled`, −d/(β p), a distance that costs less if the model expects it (NI11 eq. 7).
    `inside`: a jump model is also charged for the jumps inside a phrase pair, not only between two. `per_class`: an
    orientation model has a feature, and so a weight, for each class, like tables.
    """

    model: Any
    use: str = "direct"
    beta: float = 1.0
    inside: bool = False
    per_class: bool = False

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The models with one feature each: usually the model itself."""
        return tuple(self.model.split()) if hasattr(self.model, "split") else (self.model,)

    @property
    def n_features(self) -> int:
        """Number of scores, and of weights."""
        if self.per_class:
            return len(orientations_of(self.model))
        return int(getattr(self.model, "n_values", len(self.parts)))

    def __post_init__(self) -> None:
        if self.use not in ("direct", "scaled"):
            raise OptionError(f"use must be direct or scaled, not {self.use!r}")
        if self.use == "scaled" and not isinstance(self.model, PerOption):
            raise OptionError("only an orientation model can scale the distance")
        if not self.beta > 0:
            raise OptionError(f"beta must be above 0, not {self.beta:g}")
        if self.per_class and not isinstance(self.model, PerOption):
            raise OptionError("only an orientation model can have a weight for each class")

    def class_scores(self, batch: Batch) -> list[OptionScores]:
        """The scores of an orientation model; none for other models."""
        return [_class_scores(part, self, batch) for part in self.parts if isinstance(part, PerOption)]

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        """The scorers for a batch of sentences."""
        if hasattr(self.model, "search_feature"):
            return [self.model.search_feature(batch, weights)]
        if self.per_class:
            return [scorer_of(self.model, self, batch, weights)]
        return [scorer_of(part, self, batch, [weight]) for part, weight in zip(self.parts, weights, strict=True)]


@singledispatch
def scorer_of(model: object, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    """The scorers of a model in this use for these sentences, by the model's shape.

    There is one weight, or one for each orientation class.
    """
    raise OptionError(
        f"{type(model).__name__} is not a reordering model: it has none of option_logprobs, jump_logprobs, step_scores "
        "and step_scorer"
    )


@scorer_of.register(PerOption)
def _(model: PerOption, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    return _class_scores(model, use, batch).scorer(weights)


def _class_scores(model: PerOption, use: ModelUse, batch: Batch) -> OptionScores:
    """The scores of an orientation model in this use."""
    scores = np.asarray(model.option_logprobs(batch.source, batch.options, *needed(model, batch.annotations)))
    if scores.shape[0] != len(batch.options):
        raise OptionError(f"a model must score {len(batch.options)} options, not {scores.shape[0]}")
    if use.use == "scaled":
        scores = -numeric.exp(-np.maximum(scores, LEAST)) / use.beta
    found = replace(scores_of(model, scores), times_distance=use.use == "scaled")
    if found.times_distance and (found.possible or found.coverage is not None):
        raise OptionError("a model that uses the coverage must be used directly: it cannot scale the distance")
    return found


def scores_of(model: PerOption, scores: Array) -> OptionScores:
    """Scores (n_options, n_classes) of an orientation model, with its classes and its use of the coverage."""
    return OptionScores(
        scores,
        orientations_of(model),
        cast(Side, getattr(model, "side", "before")),
        possible=getattr(model, "classes", "all") == "possible",
        coverage=getattr(model, "coverage_weights_", None),
    )


@scorer_of.register(PerJump)
def _(model: PerJump, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    logprobs = model.jump_logprobs(batch.source, *needed(model, batch.annotations))
    remaining = getattr(model, "candidates", "all") == "remaining"
    return _jump_scorer(logprobs, weights[0], use.inside, remaining)


@scorer_of.register(PerStep)
def _(model: PerStep, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    if hasattr(model, "step_scorer"):
        return cast(_core.Feature, model.step_scorer(batch, weights[0]))
    from hyperbaton.models import python_steps  # which imports the base classes of models; tables do without

    return python_steps(model, batch, weights[0])


def orientations_of(model: PerOption) -> OrientationSet:
    """The orientation set of a model, which may be given by name."""
    orientations = model.orientations
    return orientation_set(orientations) if isinstance(orientations, str) else orientations


def _jump_scorer(jumps: JumpLogProbs | Sequence[Array], weight: float, inside: bool, remaining: bool) -> _core.JumpScorer:
    if hasattr(jumps, "values") and hasattr(jumps, "starts"):
        values, starts = jumps.values, jumps.starts
    else:
        matrices = [np.asarray(matrix).ravel() for matrix in jumps]
        values = np.concatenate([np.zeros(0), *matrices])
        starts = offsets_of([*map(len, matrices)])
    classes = getattr(jumps, "class_weights", None) if remaining else None
    return _core.JumpScorer(
        # Over the remaining words, the core bounds the probability itself: a low value here may be the best remaining
        # one.
        matrices=np.maximum(values, LOWEST_SCORE if remaining else FLOOR).astype(np.float32),
        offsets=np.asarray(starts, np.int64),
        weight=weight,
        inside=inside,
        remaining=remaining,
        classes=None if classes is None else classes.astype(np.float32),
    )
