"""One label for each token: part-of-speech tags, or the classes of the words.

A file has a line of labels, separated by spaces, for each line of the text, with a label for each token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import AnyPath, shown
from hyperbaton.corpus.text import Offsets, SentenceRows, Text, Vocabulary

Labels = npt.NDArray[np.uint16]
MAX_LABELS = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Tags(SentenceRows[list[str]]):
    """Labels parallel to the tokens of a text: those of sentence s are `labels[offsets[s]:offsets[s + 1]]`.

    >>> tags = Tags.of(["PRP VBZ", ""], Text.of(["he eats", ""]))
    >>> tags[0], tags.vocabulary.word(tags.labels[1])
    (['PRP', 'VBZ'], 'VBZ')
    """

    labels: Labels  # (n_tokens,)
    offsets: Offsets
    vocabulary: Vocabulary

    PARTS: ClassVar = {"vocabulary": Vocabulary}

    @classmethod
    def read(cls, path: AnyPath, text: Text) -> Tags:
        """Read the labels of a text, plain or compressed, and check that each line has one for each token."""
        return cls._check(Text.read(path), text, shown(path))

    @classmethod
    def of(cls, lines: Sequence[str], text: Text) -> Tags:
        """Make labels from lines in memory."""
        return cls._check(Text.of(lines), text, None)

    @classmethod
    def _check(cls, labels: Text, text: Text, path: str | None) -> Tags:
        where = text.path or "the text"
        if len(labels) != len(text):
            what = f"{counted(len(labels), 'line')} of labels for the {counted(len(text), 'line')} of {where}"
            raise InputError(what, path, min(len(labels), len(text)) + 1)
        differs = labels.lengths != text.lengths
        if differs.any():
            s = int(np.argmax(differs))
            what = f"{labels.lengths[s]} labels for the {text.lengths[s]} tokens of line {s + 1} of {where}"
            raise InputError(what, path, s + 1)
        if len(labels.vocabulary) > MAX_LABELS:
            raise InputError(f"more than {MAX_LABELS} different labels: is this a file of tags or classes?", path)
        return cls(labels.tokens.astype(np.uint16), labels.offsets, labels.vocabulary)

    def item(self, at: int) -> list[str]:
        return self._text()[at]

    def over(self, vocabulary: Vocabulary) -> npt.NDArray[np.uint32]:
        """The number of each label in another vocabulary; new labels get the next numbers."""
        return self._text().over(vocabulary).tokens

    def pieces(self, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[bytes]:
        """The labels of the chosen sentences as lines of text, in pieces."""
        return self._text().pieces(sentences)

    def _text(self) -> Text:
        return Text(self.labels.astype(np.uint32), self.offsets, self.vocabulary)
