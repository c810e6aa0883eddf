"""Removal of words before aligning, and restoration afterwards (GO13, section 4.1).

Articles and particles that correspond to nothing in the other language mislead a word aligner. Remove them, align
the rest, and shift the links back to the positions of the full sentences: the removed words stay unaligned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import offsets_of, ranges
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.links import Links
from hyperbaton.corpus.text import Text


@dataclass(frozen=True)
class Removal:
    """A text without some of its words, over the same vocabulary; a sentence may become empty.

    >>> reduced = remove_words(Text.of(["the cat saw the dog"]), ["a", "an", "the"])
    >>> reduced.text[0], reduced.positions.tolist()
    (['cat', 'saw', 'dog'], [1, 2, 4])
    """

    text: Text
    positions: npt.NDArray[np.uint16]  # of each remaining token, in its full sentence


def remove_words(text: Text, words: Iterable[str]) -> Removal:
    """Remove every token that is one of `words`, exactly as spelled; words that do not occur are ignored."""
    numbers = [number for number in map(text.vocabulary.number, words) if number >= 0]
    unwanted = np.zeros(len(text.vocabulary), bool)
    unwanted[numbers] = True
    left = ~unwanted[text.tokens]
    n_left = offsets_of(left)
    positions = ranges(0, text.lengths)
    reduced = replace(text, tokens=text.tokens[left], offsets=n_left[text.offsets])
    return Removal(reduced, positions[left].astype(np.uint16))


def restore_links(links: Links, source: Removal | None, target: Removal | None) -> Links:
    """Convert links between reduced texts to links between the full ones; None is a side that was not reduced.

    >>> english = remove_words(Text.of(["the cat saw the dog"]), ["the"])
    >>> restore_links(Links.of([[(0, 0), (1, 2)]]), None, english)[0]
    [(0, 1), (1, 4)]
    """
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    points = links.points.copy()
    for side, removal in enumerate((source, target)):
        if removal is None:
            continue
        if len(links) != len(removal.text):
            raise InputError(f"{counted(len(links), 'line')} of links for {counted(len(removal.text), 'sentence')}")
        if (points[:, side] >= removal.text.lengths[sentence]).any():
            raise InputError("links that were not made from the reduced text: a position is out of range")
        points[:, side] = removal.positions[removal.text.offsets[sentence] + points[:, side]]
    return Links(points, links.offsets)
