"""What a reordering model of a system is: its features, its scorers in the search, and how it is stored.

A kind of reordering is one class: a table (`scorers.py`), the use of a trained model (there too), sparse features
(`sparse.py`). A system asks a kind only by these methods. A class with a new `KEY` can be saved and loaded once its
module is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Form, Json, Layout
from hyperbaton.corpus.text import Offsets
from hyperbaton.decode.locations import Location
from hyperbaton.models import Batch
from hyperbaton.phrases import DistanceSet, MosesSet, OrientationSet, PhraseTable
from hyperbaton.phrases.coverage import possible_of_spans, states_of_spans
from hyperbaton.phrases.orientation import Side

START_WEIGHT = 0.3  # of Moses' training
FLOOR = -100.0  # the lowest score of the search


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


class Reordering(ABC):
    """A reordering model of a system."""

    # The key by which an entry of a manifest shows the kind, and the form of an entry without its name.
    KEY: ClassVar[str] = ""
    FORM: ClassVar[Mapping[str, Form]] = {}
    # Whether it is stored as an artefact inside the system's folder, by `save`, or among the arrays of the system.
    IS_ARTEFACT: ClassVar[bool] = False
    # Whether it has a row for each pair of the phrase table, so that it cannot score the phrases of derivations.
    OF_PAIRS: ClassVar[bool] = False
    _kinds: ClassVar[dict[str, type[Reordering]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.KEY:
            Reordering._kinds[cls.KEY] = cls

    @staticmethod
    def kind_of(entry: Mapping[str, Json]) -> type[Reordering]:
        """The kind of an entry of a manifest."""
        kinds = Reordering._kinds
        return next((kind for key, kind in kinds.items() if key in entry), kinds["use"])

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of scores, and of weights."""

    @property
    def start_weights(self) -> list[float]:
        """The weights before tuning."""
        return [START_WEIGHT] * self.n_features

    @abstractmethod
    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        """The scorers for a batch of sentences, whose features together are the model's, in order."""

    def class_scores(self, batch: Batch) -> list[OptionScores]:
        """The scores of orientation classes, one for each side of a table; none for models without classes."""
        return []

    def with_class_weights(self, name: str) -> Reordering:
        """The model, named so, with a weight for each orientation class."""
        raise OptionError(f"{name}: only an orientation model can have a weight for each class")

    def fits(self, table: PhraseTable) -> bool:
        """Whether its sizes are those of a phrase table."""
        return True

    @property
    def in_chart(self) -> bool:
        """Whether it scores parts of derivations in the chart of a system with rules; others score complete ones."""
        return False

    def packed(self, keep: npt.NDArray[np.bool_], offsets: Offsets, exact: bool) -> Reordering:
        """The model for a table with only these of its pairs, which had these offsets; not exact if it may be smaller."""
        return self

    @property
    def part(self) -> object:
        """What a saved system can refer to, if it was read from an artefact, instead of containing it."""
        return None

    @abstractmethod
    def stored(self, name: str) -> dict[str, object]:
        """Its entry in a manifest, of the form `FORM`, without the name."""

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Everything but the content of `stored`, as named arrays; none for an artefact."""
        return {}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the artefact of a kind that is one."""
        raise NotImplementedError

    @classmethod
    def layout(cls, entry: Mapping[str, Json], prefix: str) -> Layout:
        """The layout of the arrays that belong to an entry."""
        return {}

    @classmethod
    @abstractmethod
    def restored(cls, entry: Mapping[str, Json], location: Location) -> Self:
        """The inverse of `stored` with `arrays` or `save`, whose result is at a location."""
