"""Making words more alike before alignment, and leaving some out.

Lower-casing and cutting words to their first letters join forms of one word, which helps where they are rare. Words
that match nothing on the other side (articles, particles) can be left out and their positions restored afterwards (Goto
et al. 2013, section 4.1); they then have no links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.corpus import Links, Text, Vocabulary
from hyperbaton.corpus.files import AnyPath, read_lines


@dataclass(frozen=True)
class Normalization:
    """What is done to the words of one side.

    >>> text = Text.of(["The cats sleep", "a CAT"])
    >>> short, kept = Normalization(stem=3, drop=frozenset({"the", "a"})).apply(text)
    >>> list(short), kept.tolist()
    ([['cat', 'sle'], ['cat']], [1, 2, 1])
    """

    lowercase: bool = True
    stem: int = 0
    drop: frozenset[str] = frozenset()

    def apply(self, text: Text, vocabulary: Vocabulary | None = None) -> tuple[Text, npt.NDArray[np.int64]]:
        """The text with its words changed, and the position in its old sentence of each word that is left.

        With a vocabulary, words are numbered by it, and those it lacks are all one unknown word.
        """
        words = text.vocabulary.words()
        forms = [word.lower() if self.lowercase else word for word in words]
        keep = np.array([not {word, form} & self.drop for word, form in zip(words, forms, strict=True)], bool)
        if self.stem:
            forms = [form[: self.stem] for form in forms]
        if vocabulary is None:
            vocabulary = Vocabulary.of(forms)
        lookup = vocabulary.lookup
        numbers = np.array([lookup.find(form) for form in forms], np.int64).astype(np.uint32)  # -1 becomes unknown
        kept = keep[text.tokens]
        counts = np.concatenate([[0], np.cumsum(kept)])
        where = np.flatnonzero(kept)
        starts = np.repeat(text.offsets[:-1], text.lengths)
        offsets = counts[text.offsets]
        return Text(numbers[text.tokens[where]], offsets, vocabulary, text.path), where - starts[where]


def restore(links: Links, source: tuple[Text, npt.NDArray[np.int64]], target: tuple[Text, npt.NDArray[np.int64]]) -> Links:
    """Links between the words that were left, as links between the words there were."""
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    points = np.empty_like(links.points)
    for side, (text, kept) in enumerate((source, target)):
        points[:, side] = kept[text.offsets[sentence] + links.points[:, side]]
    return Links(points, links.offsets)


def read_words(path: AnyPath) -> frozenset[str]:
    """The words of a file, one or more on a line."""
    return frozenset(word for line in read_lines(path) for word in line.split())
