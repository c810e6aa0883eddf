"""The behaviour of a reference where a model has an expectation: the next visited word, or the class of a movement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode import ModelUse, System
from hyperbaton.decode.scorers import orientations_of
from hyperbaton.phrases import DistanceSet, MosesSet, OrientationSet


class Visits(NamedTuple):
    """The order in which a reference visits the words of a sentence of `n_words`.

    >>> Visits([2, 0, 1], 4).after(2), Visits([2, 0, 1], 4).after(1), Visits([2, 0, 1], 4).after(3)
    (0, 4, None)
    """

    order: list[int]
    n_words: int

    def after(self, word: int) -> int | None:
        """The word visited after another one (−1 is the start); n_words at the end, None for an unvisited word."""
        behind = [*self.order, self.n_words]
        if word < 0:
            return behind[0]
        return behind[self.order.index(word) + 1] if word in self.order else None

    def before(self, word: int) -> int:
        """The word visited before another one that is visited, −1 for the first."""
        at = self.order.index(word)
        return self.order[at - 1] if at else -1

    def orientation(self, span: tuple[int, int], side: str, orientations: OrientationSet) -> str | None:
        """The class of a span's movement in the reference; None if it is not visited there, or nothing follows."""
        begin, end = span
        visited = [word for word in self.order if begin <= word < end]
        if not visited:
            return None
        if side == "before":
            other = self.before(visited[0])
            distance = other + 1 - begin
        else:
            following = self.after(visited[-1])
            if following is None or following == self.n_words:
                return None
            other, distance = following, end - following
        if isinstance(orientations, DistanceSet):
            return orientations.names[int(orientations.classify_distances(np.array([distance], np.int16))[0])]
        if not isinstance(orientations, MosesSet):
            return None
        is_left = other < begin
        next_to_it = other in (begin - 1, end)
        forward = is_left == (side == "before")  # the two phrases are in source order
        four = (0 if forward else 1) if next_to_it else (3 if forward else 2)
        return orientations.names[orientations.merge[four]]


def add_reference(system: System, expectations: Sequence[Sequence[JsonObject]], visits: Visits) -> None:
    """Add `reference` to the expectations of a translation: what the reference does there, None if unknown."""
    last = -1  # the word visited before a step
    for step in expectations:
        for expectation in step:
            if expectation["shape"] == "orientation":
                begin, end = expectation["span"]
                orientations = _orientations(system, expectation["model"])
                expectation["reference"] = visits.orientation((begin, end), expectation["side"], orientations)
            else:
                expectation["reference"] = visits.after(expectation.get("from", last))
                last = expectation["chosen"]


def _orientations(system: System, model: str) -> OrientationSet:
    """The orientation set of a model of a system."""
    use: Any = system.reordering[model]
    return orientations_of(use.model if isinstance(use, ModelUse) else use)
