"""Detokenizers by name: one file each. They decide where blanks go, and do not change tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import unescape

from hyperbaton.base.options import from_mapping, options_of
from hyperbaton.base.registry import Registry
from hyperbaton.corpus.sentences import UNSPACED

# The escapes of Moses' tokenizer, for characters with a meaning in its files.
_ESCAPES = ("&amp;", "&#124;", "&lt;", "&gt;", "&apos;", "&quot;", "&#91;", "&#93;")


class Detokenizer(ABC):
    """Joins tokens into text. Derived classes are dataclasses of options."""

    @abstractmethod
    def blanks(self, tokens: Sequence[str]) -> list[bool]:
        """Whether a blank precedes each token, given without escapes; the first value is ignored."""

    def __call__(self, tokens: Sequence[str]) -> str:
        plain = [unescaped(token) for token in tokens]
        blanks = self.blanks(plain)
        return "".join(f" {token}" if blanks[i] and i else token for i, token in enumerate(plain))


DETOKENIZERS: Registry[Detokenizer] = Registry("detokenizer", __name__, Detokenizer)


def make_detokenizer(language: str) -> Detokenizer:
    """The detokenizer of a language, by its two-letter code; without a code, tokens are separated by blanks.

    >>> make_detokenizer("en")(["&quot;", "Well", ",", "it", "&apos;s", "late", ".", "&quot;"])
    '"Well, it\\'s late."'
    >>> make_detokenizer("ja")(["彼", "は", "iPhone", "15", "を", "買った", "。"])
    '彼はiPhone 15を買った。'
    """
    cls = DETOKENIZERS["unspaced" if language in UNSPACED else "spaced" if language else "none"]
    known = {opt.name for opt in options_of(cls)}
    return from_mapping(cls, {"language": language} if "language" in known else {})


def unescaped(token: str) -> str:
    """A token without the escapes of Moses' tokenizer.

    >>> unescaped("rock&amp;roll"), unescaped("&uuml;")
    ('rock&roll', '&uuml;')
    """
    if "&" in token:
        for escape in (*_ESCAPES[1:], _ESCAPES[0]):
            token = token.replace(escape, unescape(escape))
    return token
