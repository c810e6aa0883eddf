"""Taggers by name: one file each, over libraries that are optional extras of the package.

A tagger takes tokenized sentences and returns a tag for each token. It never splits or joins tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from threading import RLock
from typing import ClassVar

from hyperbaton.base.errors import InputError
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.registry import Registry
from hyperbaton.corpus.detokenizers import unescaped

_NO_CONTROL = dict.fromkeys([*range(0x20), 0x7F])  # a NUL ends the process in MeCab
_LOCK = RLock()  # libraries share state, and a tagger is called on any thread
UNKNOWN = "_"  # the tag of a token to which the library gives none


class Tagger(Picklable, ABC):
    """Gives every token of a sentence a tag. Derived classes are dataclasses of options.

    A tagger's library is loaded with the first sentence, so that listing taggers needs none of them.
    """

    language_code: ClassVar[str] = ""  # its language, if it has only one

    @abstractmethod
    def label(self, sentences: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
        """A tag for each token of sentences, none of which is empty; a tag may be empty or contain blanks."""

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """A tag for each token, without blanks; the library sees no blanks, control characters or Moses' escapes."""
        full = [
            ["".join(unescaped(token).translate(_NO_CONTROL).split()) or UNKNOWN for token in sentence]
            for sentence in sentences
            if sentence
        ]
        with _LOCK:
            labels = iter(list(self.label(full)) if full else ())
        return [self._checked(sentence, next(labels)) if sentence else [] for sentence in sentences]

    def _checked(self, sentence: Sequence[str], labels: Sequence[str]) -> list[str]:
        if len(labels) != len(sentence):
            raise InputError(f"{type(self).__name__} gives {len(labels)} tags for the {len(sentence)} tokens {sentence}")
        return ["".join(label.split()).replace("|", "/") or UNKNOWN for label in labels]


TAGGERS: Registry[Tagger] = Registry("tagger", __name__, Tagger)
