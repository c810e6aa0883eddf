"""Word links: for each sentence pair a set of (source position, target position)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Layout
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shown import Display
from hyperbaton.corpus.files import AnyPath, write_pieces
from hyperbaton.corpus.text import Offsets, SentenceRows, Text, read_in_parts


@dataclass(frozen=True, repr=False)
class Links(Display, SentenceRows[list[tuple[int, int]]]):
    """Links of a bitext: those of pair s are the rows `points[offsets[s]:offsets[s + 1]]`, sorted and distinct.

    >>> links = Links.of([[(0, 0), (1, 2)], []])
    >>> links
    <Links: 2 links, 2 sentence pairs>
    >>> links[0], list(links[:1])
    ([(0, 0), (1, 2)], [[(0, 0), (1, 2)]])
    """

    points: npt.NDArray[np.uint16]  # (n_links, 2): source, target
    offsets: Offsets

    LAYOUT: ClassVar[Layout] = {"points": "u2 n_links 2", "offsets": "i8 n+1"}

    @classmethod
    def read(cls, path: AnyPath, source: Text, target: Text | None = None, *, scratch: Scratch | None = None) -> Links:
        """Read Pharaoh links (`0-0 1-2`, one line per sentence pair) and check them against the given texts.

        With `scratch` the links are stored there.
        """
        reader = _core.PharaohReader(source.offsets, None if target is None else target.offsets)
        return cls(*read_in_parts(reader, path, scratch or Scratch(), np.uint16))

    @classmethod
    def of(cls, pairs: Iterable[Sequence[tuple[int, int]]]) -> Links:
        """Make links from lists of points; they are sorted and made distinct."""
        rows, offsets = [], [0]
        for points in pairs:
            rows.extend(sorted(set(points)))
            offsets.append(len(rows))
        return cls(np.array(rows, np.uint16).reshape(-1, 2), np.array(offsets, np.int64))

    def facts(self) -> dict[str, int]:
        return {"links": len(self.points), "sentence pairs": len(self)}

    def item(self, at: int) -> list[tuple[int, int]]:
        return [(i, j) for i, j in self.points[self.offsets[at] : self.offsets[at + 1]].tolist()]

    def check(self, source: Text, target: Text) -> None:
        """Raise InputError unless every point lies inside its sentence pair."""
        if not len(self) == len(source) == len(target):
            raise InputError(
                f"{counted(len(self), 'line', form='d')} of links for {len(source)} and {len(target)} sentences"
            )
        sentence = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        outside = (self.points[:, 0] >= source.lengths[sentence]) | (self.points[:, 1] >= target.lengths[sentence])
        if outside.any():
            at = int(np.argmax(outside))
            i, j = self.points[at]
            raise InputError(f"link {i}-{j} of sentence pair {sentence[at] + 1} is out of range")

    def reversed(self) -> Links:
        """These links with source and target exchanged."""
        order = np.lexsort((self.points[:, 0], self.points[:, 1], np.repeat(np.arange(len(self)), np.diff(self.offsets))))
        return Links(np.ascontiguousarray(self.points[order][:, ::-1]), self.offsets)

    def pieces(self, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[bytes]:
        """Pharaoh text of the chosen sentence pairs, in pieces."""
        return (_core.format_links(self.points, self.offsets, chunk) for chunk in self.chunks(sentences))

    def write(self, path: AnyPath) -> None:
        """Write Pharaoh links."""
        write_pieces(path, self.pieces())
