"""Adapters from reordering models to the search: the scores of each of the three shapes for a batch of sentences.

Any class with the methods of a shape (`models/shapes/protocols.py`) can be a reordering model of a system. Scores are
natural logs of probabilities, or any score where higher is better. Values below −100 count as −100.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Form, Json, Layout, within
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus.text import Offsets
from hyperbaton.decode.locations import Location
from hyperbaton.decode.reordering import FLOOR, OptionScores, Reordering
from hyperbaton.models import Batch, Declared, PerJump, PerOption, PerStep, load_model, needed
from hyperbaton.phrases import OrientationSet, PhraseTable, ReorderingType, orientation_set
from hyperbaton.phrases.pair_values import DistinctRows

LOWEST_SCORE = -1e4  # for scores that are normalised later
# The lowest score if 1/p multiplies a distance (NI11 eq. 7): an unseen class is expensive, but no step is infinite.
LEAST = -20.0
_PIECE, _ROW = 1 << 24, 64  # memory for a piece of a table, and for a row
_USE = ("use", "beta", "inside", "per_class")  # attributes of a model's use


@dataclass(frozen=True)
class ReorderingTable(Reordering, Picklable):
    """A lexicalized reordering table as in Moses.

    `probabilities`: a row for each phrase pair (or source phrase) of the system's phrase table, a block of columns for
    each side; NaN if the table has no row, which costs nothing. `collapse`: one feature for each side instead of each
    class.
    """

    kind: ReorderingType
    probabilities: npt.NDArray[np.float32] | DistinctRows
    collapse: bool = False

    KEY: ClassVar = "table"
    FORM: ClassVar[Mapping[str, Form]] = {"table": str, "collapse": bool}
    OF_PAIRS: ClassVar = True

    @cached_property
    def orientations(self) -> OrientationSet:
        """Its orientation set."""
        return self.kind.set

    @property
    def set_name(self) -> str:
        """The name of its orientation set."""
        unit, orientations = self.kind.unit, self.kind.orientations
        return orientations if unit == "wbe" else f"{unit}-{orientations}"

    @property
    def n_features(self) -> int:
        return len(self.kind.sides) * (1 if self.collapse else len(self.orientations))

    @property
    def _distinct(self) -> DistinctRows:
        rows = self.probabilities
        return rows if isinstance(rows, DistinctRows) else DistinctRows.of([rows])

    @cached_property
    def _logs(self) -> DistinctRows:
        """The scores of each row; many rows are equal."""
        table = self._distinct
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = numeric.log(table.rows)
        return replace(table, rows=np.nan_to_num(rows, nan=0.0, posinf=-FLOOR).astype(np.float32))

    def class_scores(self, batch: Batch) -> list[OptionScores]:
        rows = batch.pairs
        if self.kind.conditioning == "f":
            rows = np.where(rows < 0, rows, batch.sources)
        scores, n = self._logs.or_zeros(rows), len(self.orientations)
        return [
            OptionScores(scores[:, i * n : (i + 1) * n], self.orientations, side) for i, side in enumerate(self.kind.sides)
        ]

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        width = self.n_features // len(self.kind.sides)
        sides = enumerate(self.class_scores(batch))
        return [scores.scorer(weights[i * width : (i + 1) * width]) for i, scores in sides]

    def with_class_weights(self, name: str) -> Reordering:
        return self

    def fits(self, table: PhraseTable) -> bool:
        n_rows = len(table.source) if self.kind.conditioning == "f" else len(table)
        return self.probabilities.shape == (n_rows, len(self.kind.sides) * len(self.orientations))

    def packed(self, keep: npt.NDArray[np.bool_], offsets: Offsets, exact: bool) -> Reordering:
        if self.kind.conditioning == "f":
            keep = np.diff(offsets) > 0  # source phrases keep at least one pair
        pieces = (self.probabilities[rows][keep[rows]] for rows in Scratch(_PIECE).rows(len(keep), _ROW))
        return replace(self, probabilities=DistinctRows.of(pieces).packed())

    @property
    def part(self) -> object:
        return self.probabilities

    def stored(self, name: str) -> dict[str, object]:
        return {"table": self.kind.name, "collapse": self.collapse}

    def arrays(self, prefix: str) -> dict[str, Array]:
        return self._distinct.arrays(prefix)

    @classmethod
    def layout(cls, entry: Mapping[str, Json], prefix: str) -> Layout:
        return within(prefix, DistinctRows.LAYOUT)

    @classmethod
    def restored(cls, entry: Mapping[str, Json], location: Location) -> Self:
        rows = location.open(DistinctRows.LAYOUT, DistinctRows.from_arrays)
        return cls(ReorderingType.parse(entry["table"]), rows, entry["collapse"])


@dataclass(frozen=True)
class ModelUse(Reordering):
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

    KEY: ClassVar = "use"
    FORM: ClassVar[Mapping[str, Form]] = {"use": str, "beta": float, "inside": bool, "per_class?": bool}
    IS_ARTEFACT: ClassVar = True

    @property
    def declared(self) -> Declared:
        """What the model declares about its use."""
        return Declared.of(self.model)

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The models with one feature each: usually the model itself."""
        split = self.declared.split
        return tuple(split()) if split else (self.model,)

    @property
    def n_features(self) -> int:
        if self.per_class:
            return len(orientations_of(self.model))
        n_values = self.declared.n_values
        return len(self.parts) if n_values is None else n_values

    @property
    def start_weights(self) -> list[float]:
        return self.declared.start_weights or super().start_weights

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
        return [_class_scores(part, self, batch) for part in self.parts if isinstance(part, PerOption)]

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        if (search_feature := self.declared.search_feature) is not None:
            return [search_feature(batch, weights)]
        if self.per_class:
            return [scorer_of(self.model, self, batch, weights)]
        return [scorer_of(part, self, batch, [weight]) for part, weight in zip(self.parts, weights, strict=True)]

    def with_class_weights(self, name: str) -> Reordering:
        return replace(self, per_class=True) if isinstance(self.model, PerOption) else super().with_class_weights(name)

    @property
    def in_chart(self) -> bool:
        declared = self.declared
        if declared.in_chart is not None:
            return declared.in_chart
        if declared.only_remaining or declared.classes == "possible" or declared.coverage_weights_ is not None:
            return False
        return isinstance(self.model, PerJump | PerOption)

    def packed(self, keep: npt.NDArray[np.bool_], offsets: Offsets, exact: bool) -> Reordering:
        packed = self.declared.packed
        return self if packed is None else replace(self, model=packed(exact))

    @property
    def part(self) -> object:
        return self.model

    def stored(self, name: str) -> dict[str, object]:
        if not hasattr(self.model, "save"):
            raise OptionError(f"the reordering model {name} cannot be saved: it has no method save")
        return {key: getattr(self, key) for key in _USE}

    def save(self, path: str | PathLike[str]) -> None:
        self.model.save(path)

    @classmethod
    def restored(cls, entry: Mapping[str, Json], location: Location) -> Self:
        return cls(load_model(location.path), **{key: entry[key] for key in _USE if key in entry})


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
    features = replace(scores_of(model, scores), times_distance=use.use == "scaled")
    if features.times_distance and (features.possible or features.coverage is not None):
        raise OptionError("a model that uses the coverage must be used directly: it cannot scale the distance")
    return features


def scores_of(model: PerOption, scores: Array) -> OptionScores:
    """Scores (n_options, n_classes) of an orientation model, with its classes and its use of the coverage."""
    declared = Declared.of(model)
    return OptionScores(
        scores,
        orientations_of(model),
        declared.side,
        possible=declared.classes == "possible",
        coverage=declared.coverage_weights_,
    )


@scorer_of.register(PerJump)
def _(model: PerJump, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    from hyperbaton.models import JumpLogProbs  # which imports the base classes of models; tables do without

    jumps = JumpLogProbs.of(model.jump_logprobs(batch.source, *needed(model, batch.annotations)))
    remaining = Declared.of(model).only_remaining
    classes = jumps.class_weights if remaining else None
    return _core.JumpScorer(
        # Over the remaining words, the core bounds the probability itself: a low value here may be the best remaining
        # one.
        matrices=np.maximum(jumps.values, LOWEST_SCORE if remaining else FLOOR).astype(np.float32),
        offsets=jumps.starts,
        weight=weights[0],
        inside=use.inside,
        remaining=remaining,
        classes=None if classes is None else classes.astype(np.float32),
    )


@scorer_of.register(PerStep)
def _(model: PerStep, use: ModelUse, batch: Batch, weights: list[float]) -> _core.Feature:
    if (step_scorer := Declared.of(model).step_scorer) is not None:
        return step_scorer(batch, weights[0])
    from hyperbaton.models import python_steps  # which imports the base classes of models; tables do without

    return python_steps(model, batch, weights[0])


def orientations_of(model: PerOption) -> OrientationSet:
    """The orientation set of a model, which may be given by name."""
    orientations = model.orientations
    return orientation_set(orientations) if isinstance(orientations, str) else orientations
