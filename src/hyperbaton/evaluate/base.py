"""What evaluations of all shapes share: held-out text, results, and the generic function that shapes register with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import ClassVar

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Json
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.models import ReorderingModel


@dataclass(frozen=True)
class HeldOut:
    """Text whose movements are predicted; phrases longer than `max_length` words and moves beyond `max_distance` (0 keeps
    all) are skipped."""

    bitext: Bitext
    annotations: Annotations = NOTHING
    max_length: int = 8
    max_distance: int = 15

    def __post_init__(self) -> None:
        self.bitext.check_lengths()


class Evaluation(ABC):
    """The result of evaluating a model of some shape."""

    shape: ClassVar[str]
    # The figure of `as_json` by which models are compared, and what it is the percentage of.
    figure: ClassVar[str]
    predicts: ClassVar[str]
    # The names of the figures of `as_json`.
    figures: ClassVar[tuple[str, ...]] = ()

    @property
    def comparable(self) -> str:
        """Figures are comparable among evaluations of this shape with an equal value here."""
        return ""

    def as_json(self) -> dict[str, object]:
        """All figures as plain values."""
        return {name: _plain(getattr(self, name)) for name in self.figures}

    @abstractmethod
    def row(self) -> dict[str, object]:
        """The values for a table of models."""

    def record(self) -> dict[str, object]:
        """The evaluation as plain values, with a description of how to read them."""
        reading = {"shape": self.shape, "figure": self.figure, "predicts": self.predicts, "comparable": self.comparable}
        return {**reading, **self.as_json()}


def _plain(value: Json) -> Json:
    """A figure for JSON, where all keys are text."""
    return {str(key): _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


@singledispatch
def evaluation_of(model: ReorderingModel, held_out: HeldOut) -> Evaluation:
    """Evaluate a model in the way registered for its class."""
    raise OptionError(f"the model {model.name} has a shape that cannot be evaluated")
