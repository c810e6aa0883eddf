"""Reordering models as the search wants them: what each of the three shapes answers for a block of sentences.

Whatever has one of these methods can be a reordering model of a system:

    option_logprobs(source, options)   per option: (n_options, n_classes), with `orientations` and `side` as attributes
    jump_logprobs(source)              per jump: a matrix for each sentence, row 0 the start, last column the end;
                                       where the attribute `needs_tags` is true, it is given the tags of the words too
    step_scores(steps)                 per step: (scores, states), asked for many steps at once
    step_scorer(source, options, weight, tags=, trees=)   per step, in the core: one of its scorers of steps

Scores are natural logs of probabilities, or any other numbers of which more is better. Values below −100 count as −100.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.picklable import Picklable
from hyperbaton.corpus import Tags, Text, Trees
from hyperbaton.phrases import DistanceSet, MosesSet, Options, OrientationSet, ReorderingType, orientation_set
from hyperbaton.phrases.orientation import Side

FLOOR = -100.0
Array = npt.NDArray[Any]


class Block(NamedTuple):
    """Sentences that are translated together, with their translation options.

    `pairs` is the row of the phrase table of each option, negative where it comes from elsewhere; `sources` the number of
    its source phrase. `tags` and `trees`: of the source sentences, where they are given.
    """

    source: Text
    options: Options
    pairs: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    tags: Tags | None = None
    trees: Trees | None = None


@dataclass(frozen=True)
class Steps:
    """Steps of hypotheses of one sentence: option `options[i]` after a hypothesis that has translated `coverage[i]`.

    `states` is what the scorer returned for the step before, 0 at the start of the sentence; `previous_begin` and
    `previous_end` give the source span of the previous phrase (0 and 0 at the start).
    """

    block: Block
    sentence: int
    states: npt.NDArray[np.int64]
    coverage: npt.NDArray[np.bool_]  # (n_steps, n_words)
    previous_begin: npt.NDArray[np.int32]
    previous_end: npt.NDArray[np.int32]
    options: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.options)

    @property
    def begin(self) -> npt.NDArray[np.int64]:
        """First source word of each step's option."""
        return self.block.options.source.begin[self.options].astype(np.int64)

    @property
    def end(self) -> npt.NDArray[np.int64]:
        """One behind its last source word."""
        return self.begin + self.block.options.source.length[self.options]


class Reordering(Protocol):
    """A reordering model of a system: its features, and its scorers for a block of sentences."""

    @property
    def n_features(self) -> int: ...

    def scorers(self, block: Block, weights: list[float]) -> list[_core.Feature]:
        """The scorers, whose features together are the model's, in order."""


@dataclass(frozen=True)
class ReorderingTable(Picklable):
    """A lexicalized reordering table as Moses uses it.

    `probabilities`: a row for each phrase pair (or source phrase) of the system's phrase table, a block of columns for each
    side; NaN where the table has no row, which costs nothing. `collapse`: one feature for each side instead of each class.
    """

    kind: ReorderingType
    probabilities: npt.NDArray[np.float32]
    collapse: bool = False

    @cached_property
    def orientations(self) -> OrientationSet:
        return self.kind.set

    @property
    def n_features(self) -> int:
        return len(self.kind.sides) * (1 if self.collapse else len(self.orientations))

    def scorers(self, block: Block, weights: list[float]) -> list[_core.Feature]:
        rows = block.sources if self.kind.conditioning == "f" else block.pairs
        known = block.pairs >= 0
        found = np.zeros((len(rows), self.probabilities.shape[1]), np.float32)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[known] = np.nan_to_num(numeric.log(self.probabilities[rows[known]]), nan=0.0, posinf=-FLOOR)
        n, width = len(self.orientations), self.n_features // len(self.kind.sides)
        return [
            _option_scorer(found[:, i * n : (i + 1) * n], weights[i * width : (i + 1) * width], self.orientations, side)
            for i, side in enumerate(self.kind.sides)
        ]


@dataclass(frozen=True)
class ModelUse:
    """A reordering model, ours or anybody's, and how the decoder uses it; one feature.

    `use`: `direct`, log p, or `scaled`, −d/(β p), a distance that costs less where the model expects it (NI11 eq. 7).
    `inside`: a model of jumps is charged for the jumps inside a phrase pair too, not only between two.
    """

    model: Any
    use: str = "direct"
    beta: float = 1.0
    inside: bool = False

    n_features = 1

    def __post_init__(self) -> None:
        if self.use not in ("direct", "scaled"):
            raise OptionError(f"a model's use is direct or scaled, not {self.use!r}")
        if self.use == "scaled" and not hasattr(self.model, "option_logprobs"):
            raise OptionError("only a model of orientation classes can scale the distance")
        if not self.beta > 0:
            raise OptionError(f"beta must be above 0, not {self.beta:g}")

    def scorers(self, block: Block, weights: list[float]) -> list[_core.Feature]:
        model = self.model
        if hasattr(model, "option_logprobs"):
            scores = np.asarray(model.option_logprobs(block.source, block.options))
            if scores.shape[0] != len(block.options):
                raise OptionError(f"a model must score {len(block.options)} options, not {scores.shape[0]}")
            if self.use == "scaled":
                scores = -numeric.exp(-np.maximum(scores, FLOOR)) / self.beta
            orientations = model.orientations
            orientations = orientation_set(orientations) if isinstance(orientations, str) else orientations
            side = cast(Side, getattr(model, "side", "before"))
            return [_option_scorer(scores, weights, orientations, side, self.use == "scaled")]
        if hasattr(model, "jump_logprobs"):
            given = (block.source, block.tags) if getattr(model, "needs_tags", False) else (block.source,)
            return [_jump_scorer(model.jump_logprobs(*given), block.source, weights[0], self.inside)]
        if hasattr(model, "step_scorer"):
            return [model.step_scorer(block.source, block.options, weights[0], tags=block.tags, trees=block.trees)]
        if hasattr(model, "step_scores"):
            return [_core.PythonSteps(function=_asking(model, block), weight=weights[0])]
        raise OptionError(
            f"{type(model).__name__} is no reordering model: it has none of option_logprobs, jump_logprobs, step_scores "
            "and step_scorer"
        )


def _option_scorer(
    scores: Array, weights: list[float], orientations: OrientationSet, side: Side, times_distance: bool = False
) -> _core.OptionScorer:
    if scores.shape[1] != len(orientations):
        raise OptionError(f"a model of {len(orientations)} classes gave {scores.shape[1]} scores for each option")
    rule, cuts, merge = _core.StepRule.distance, [], [0, 0, 0, 0]
    if isinstance(orientations, MosesSet):
        rule = _core.StepRule.block if orientations.unit == "hierarchical" else _core.StepRule.neighbour
        merge = list(orientations.merge)
    elif isinstance(orientations, DistanceSet):
        cuts = list(orientations.cuts)
    else:
        raise OptionError("the decoder knows orientation sets of distances and Moses' sets")
    floor = -np.inf if times_distance else FLOOR
    return _core.OptionScorer(
        scores=np.ascontiguousarray(np.maximum(scores, floor), np.float32),
        weights=list(weights),
        rule=rule,
        side=_core.Side[side],
        cuts=cuts,
        merge=merge,
        times_distance=times_distance,
    )


def _jump_scorer(jumps: Any, source: Text, weight: float, inside: bool) -> _core.JumpScorer:
    if hasattr(jumps, "values") and hasattr(jumps, "starts"):
        values, starts = jumps.values, jumps.starts
    else:
        matrices = [np.asarray(matrix).ravel() for matrix in jumps]
        values = np.concatenate([np.zeros(0), *matrices])
        starts = np.cumsum([0, *(len(matrix) for matrix in matrices)])
    return _core.JumpScorer(
        matrices=np.maximum(values, FLOOR).astype(np.float32),
        offsets=np.asarray(starts, np.int64),
        weight=weight,
        inside=inside,
    )


def _asking(model: Any, block: Block) -> Any:
    """A function of the core's arrays that asks a model of steps."""

    def ask(sentence: int, states: Array, coverage: Array, begin: Array, end: Array, options: Array) -> Any:
        steps = Steps(block, sentence, states, coverage.astype(np.bool_), begin, end, options)
        scores, behind = model.step_scores(steps)
        return np.ascontiguousarray(scores, np.float32), np.ascontiguousarray(behind, np.int64)

    return ask
