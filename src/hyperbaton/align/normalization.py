"""Normalization of words before alignment, and removal of some words.

Lower-casing and cutting words to their first letters merge forms of one word, which helps if they are rare. Words
that match nothing on the other side (articles, particles) can be left out and their positions restored afterwards (Goto
et al. 2013, section 4.1); they then have no links.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.files import AnyPath, read_lines
from hyperbaton.corpus.removal import Removal, remove_words


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
        left = remove_words(text, (word for word in words if {word, word.lower() if self.lowercase else word} & self.drop))
        forms = forms or Vocabulary.of([self.form(word) for word in words])
        numbers = self.numbers(text.vocabulary, forms)
        return replace(left, text=replace(left.text, tokens=numbers[left.text.tokens], vocabulary=forms))


def read_words(path: AnyPath) -> frozenset[str]:
    """The words of a file, one or more on a line."""
    return frozenset(word for line in read_lines(path) for word in line.split())
