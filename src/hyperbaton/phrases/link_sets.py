"""The links inside phrase pairs; most pairs share theirs with many others, so each distinct set is stored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers, gather
from hyperbaton.base.forms import Layout
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Arrays, check_numbers, check_offsets
from hyperbaton.corpus.text import Offsets

Points = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class LinkSets:
    """Inner links of phrase pairs: pair k has set `numbers[k]`, and set s is `points[offsets[s]:offsets[s + 1]]`.

    `points` (m, 2) are positions inside the phrases. Sets are numbered in the order of their first occurrence.

    >>> links = LinkSets.of(np.array([0, 1, 3, 4]), np.array([[0, 0], [0, 0], [1, 1], [0, 0]], np.uint8))
    >>> links.numbers.tolist(), links[1].tolist()
    ([0, 1, 0], [[0, 0], [1, 1]])
    """

    numbers: npt.NDArray[np.uint32]
    offsets: Offsets
    points: Points

    LAYOUT: ClassVar[Layout] = {"numbers": "u4 n_pairs", "offsets": "i8 n_sets+1", "points": "u1 n_points 2"}

    @classmethod
    def of(cls, offsets: Offsets, points: Points) -> LinkSets:
        """The links of pairs: pair k has `points[offsets[k]:offsets[k + 1]]`."""
        column = LinkSetColumn(Scratch())
        column.append(offsets, points)
        return column.finish()

    def __len__(self) -> int:
        """The number of pairs."""
        return len(self.numbers)

    def __getitem__(self, pair: int) -> Points:
        """The links of a pair."""
        number = self.numbers[pair]
        return self.points[self.offsets[number] : self.offsets[number + 1]]

    def gather(self, pairs: Integers) -> tuple[Points, Offsets]:
        """The concatenated links of chosen pairs, and their offsets."""
        where, offsets = gather(self.offsets, self.numbers[pairs].astype(np.int64))
        return self.points[where], offsets

    def select(self, keep: npt.NDArray[np.bool_], scratch: Scratch) -> LinkSets:
        """The links of the pairs where `keep` is true; sets keep their numbers."""
        return replace(self, numbers=scratch.select(self.numbers, keep))

    def without_unused(self) -> LinkSets:
        """The links without sets that no pair has; the others are renumbered."""
        in_use, first = np.unique(self.numbers, return_index=True)
        in_use = in_use[np.argsort(first)].astype(np.int64)
        where, offsets = gather(self.offsets, in_use)
        numbers = np.zeros(len(self.offsets) - 1, np.uint32)
        numbers[in_use] = np.arange(len(in_use), dtype=np.uint32)
        return LinkSets(numbers[self.numbers], offsets, self.points[where])

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads all of them without the core."""
        check_offsets(self.offsets, len(self.points))
        check_numbers(self.numbers, len(self.offsets) - 1, "set of links")

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Everything as named arrays, for the store."""
        return {f"{prefix}.{name}": getattr(self, name) for name in self.LAYOUT}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LinkSets:
        """The inverse of `arrays`, names without the prefix."""
        return cls(arrays["numbers"], arrays["offsets"], arrays["points"])


class LinkSetColumn:
    """Inner links that grow at their end; the distinct sets are in memory."""

    def __init__(self, scratch: Scratch) -> None:
        self._sets, self._numbers = _core.LinkSets(), Column(scratch, np.uint32)

    def append(self, offsets: Offsets, points: Points) -> None:
        """Add the links of pairs."""
        self._numbers.append(self._sets.add(offsets, points))

    def finish(self) -> LinkSets:
        """All links; nothing can be added after this."""
        return LinkSets(self._numbers.finish(), *self._sets.sets())
