"""The order in which a translation visits the source words.

Go through the target words from left to right; for each, append the source positions linked to it in increasing order,
each only once. Unlinked source words are not visited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import n_threads
from hyperbaton.corpus import Links
from hyperbaton.corpus.text import Offsets, SentenceRows


class Jumps(NamedTuple):
    """Columns of equal length: sentence, current position (CP, −1 is BOS), next position (NP, n is EOS)."""

    sentence: npt.NDArray[np.int64]
    current: npt.NDArray[np.int64]
    next: npt.NDArray[np.int64]


@dataclass(frozen=True)
class VisitOrders(SentenceRows[list[int]]):
    """Visit orders of a bitext: that of pair s is `positions[offsets[s]:offsets[s + 1]]`."""

    positions: npt.NDArray[np.uint16]
    offsets: Offsets

    def item(self, at: int) -> list[int]:
        return [int(i) for i in self.positions[self.offsets[at] : self.offsets[at + 1]]]

    def jumps(self, lengths: npt.NDArray[np.int64]) -> Jumps:
        """Consecutive elements of BOS + visit order + EOS; sentences without a visit have none.

        Arguments:
            lengths: the number of words of each source sentence.

        >>> visit_order(Links.of([[(0, 1), (1, 0)], []])).jumps(np.array([2, 4]))._asdict()["current"].tolist()
        [-1, 1, 0]
        """
        n_visits = np.diff(self.offsets)
        visited = np.flatnonzero(n_visits)
        positions = self.positions.astype(np.int64)
        return Jumps(
            np.repeat(visited, n_visits[visited] + 1),
            np.insert(positions, self.offsets[visited], -1),
            np.insert(positions, self.offsets[visited + 1], lengths[visited]),
        )


def visit_order(links: Links, *, threads: int | None = None) -> VisitOrders:
    """Return the source positions of each sentence pair in the order in which its target words visit them.

    >>> visit_order(Links.of([[(0, 2), (1, 0), (2, 0), (3, 3)]]))[0]
    [1, 2, 0, 3]
    """
    return VisitOrders(*_core.visit_orders(links.points, links.offsets, n_threads(threads)))
