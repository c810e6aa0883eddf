"""Normalization of words before alignment, and removal of some words (GO13, section 4.1).

Lower-casing and cutting words to their first letters merge forms of one word, which helps if they are rare. Articles and
particles that match nothing on the other side mislead a word aligner: they are left out, the rest is aligned, and the links
are shifted back to the positions of the full sentences, where the words left out have no links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import offsets_of, ranges
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Links, Text, Vocabulary
from hyperbaton.corpus.files import AnyPath, read_lines


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


@dataclass(frozen=True)
class Normalization:
    """Normalization of the words of one side.

    >>> short = Normalization(stem=3, drop=frozenset({"the", "a"})).apply(Text.of(["The cats sleep", "a CAT"]))
    >>> list(short.text), short.positions.tolist()
    ([['cat', 'sle'], ['cat']], [1, 2, 1])
    """

    lowercase: bool = True
    stem: int = 0
    drop: frozenset[str] = frozenset()

    def form(self, word: str) -> str:
        """The normalised form of a word."""
        word = word.lower() if self.lowercase else word
        return word[: self.stem] if self.stem else word

    def numbers(self, words: Vocabulary, forms: Vocabulary) -> npt.NDArray[np.uint32]:
        """The number of each word's form among `forms`; the largest integer if it has none."""
        lookup = forms.lookup
        return np.array([lookup.find(self.form(word)) for word in words.words()], np.int64).astype(np.uint32)

    def apply(self, text: Text, forms: Vocabulary | None = None) -> Removal:
        """The text with its words normalised and some left out.

        With a vocabulary, words are numbered by it, and words that it lacks become one unknown word.
        """
        words = text.vocabulary.words()
        dropped = (word for word in words if {word, word.lower() if self.lowercase else word} & self.drop)
        left = remove_words(text, dropped if self.drop else ())
        forms = forms or Vocabulary.of([self.form(word) for word in words])
        numbers = self.numbers(text.vocabulary, forms)
        return replace(left, text=replace(left.text, tokens=numbers[left.text.tokens], vocabulary=forms))


def read_words(path: AnyPath) -> frozenset[str]:
    """The words of a file, one or more on a line."""
    return frozenset(word for line in read_lines(path) for word in line.split())
