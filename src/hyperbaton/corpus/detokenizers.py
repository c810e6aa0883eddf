"""Detokenization: where blanks go between tokens, which are not changed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from hyperbaton.corpus.sentences import UNSPACED

# The escapes of Moses' tokenizer, for characters with a meaning in its files.
_ESCAPES = ("&amp;", "&#124;", "&lt;", "&gt;", "&apos;", "&quot;", "&#91;", "&#93;")

_CLOSING = frozenset(",.;:!?…%)]}»”’،؛؟٪。、，")
_OPENING = frozenset("([{«“‘¿¡„‚")
_CURRENCY = frozenset("$£€¥#")
_STRAIGHT = frozenset("\"'")
_CLITIC = re.compile(r"['’][A-Za-z]+$")  # 's, 've, 'clock
_MARKS = re.compile(r"[.,;:!?…،؛؟]+$")
_NUMBER = re.compile(r"\d+([.,]\d+)*$")
_ELISION = re.compile(r"[A-Za-zÀ-ÿ]+['’]$")
# Two neighbours that match this where they touch need a blank between them.
_LATIN = re.compile(r"[0-9A-Za-zÀ-ɏͰ-ϿЀ-ӿ]")


@dataclass(frozen=True)
class Detokenizer:
    """Joins the tokens of a language, given by its two-letter code; without a code, they are separated by blanks.

    >>> Detokenizer("en")(["&quot;", "Well", ",", "it", "&apos;s", "late", ".", "&quot;"])
    '"Well, it\\'s late."'
    >>> Detokenizer("ja")(["彼", "は", "iPhone", "15", "を", "買った", "。"])
    '彼はiPhone 15を買った。'
    """

    language: str

    def __call__(self, tokens: Sequence[str]) -> str:
        plain = [unescaped(token) for token in tokens]
        blanks = self.blanks(plain)
        return "".join(f" {token}" if blanks[i] and i else token for i, token in enumerate(plain))

    def blanks(self, tokens: Sequence[str]) -> list[bool]:
        """Whether a blank precedes each token, given without escapes; the first value is ignored."""
        if self.language in UNSPACED:
            return _unspaced(tokens)
        return _spaced(tokens, self.language) if self.language else [True] * len(tokens)


def _spaced(tokens: Sequence[str], language: str) -> list[bool]:
    """Blanks between words, but not before closing or after opening punctuation; quotes alternate, clitics are joined."""
    found, opened = [], dict.fromkeys(_STRAIGHT, False)
    glued = False  # the token before attaches to this one
    for i, token in enumerate(tokens):
        before = tokens[i - 1] if i else ""
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        blank, holds = True, False
        if token in _CLOSING or _MARKS.match(token):
            # German „…“ closes with the mark that opens elsewhere.
            blank = False
        elif language == "de" and token in "“‘" and "„" in tokens[:i]:
            blank = False
        elif token in _OPENING or (token in _CURRENCY and _NUMBER.match(following)):
            holds = True
        elif token == "'" and _is_possessive(before, opened["'"], language):
            blank = False
        elif token == "'" and before.isalpha() and following.lower() == "s" and not opened["'"]:
            blank, holds = False, True  # geht's
        elif token in _STRAIGHT:
            blank, holds = not opened[token], not opened[token]
            opened[token] = not opened[token]
        elif token.lower() == "n't" or _CLITIC.match(token):
            blank = False
        elif token == "@-@" or (token in ("/", "-", "–") and _joins(before, following, token)):
            blank, holds = False, True
        elif language in ("fr", "it", "ca") and _ELISION.match(token):
            holds = True
        found.append(blank and not glued)
        glued = holds
    return found


def _is_possessive(before: str, opened: bool, language: str) -> bool:
    return language == "en" and not opened and before.endswith(("s", "S")) and before[:1].isalpha()


def _joins(before: str, following: str, mark: str) -> bool:
    """Whether a mark joins its neighbours: a slash between words, a dash between numbers."""
    if mark == "/":
        return before[-1:].isalnum() and following[:1].isalnum()
    return before[-1:].isdigit() and following[:1].isdigit()


def _unspaced(tokens: Sequence[str]) -> list[bool]:
    """No blanks, except between two words or numbers in Latin script, and after their punctuation."""
    found = [False]
    for before, token in itertools.pairwise(tokens):
        words = _LATIN.match(before[-1:]) and _LATIN.match(token[:1])
        # "Hello, world": a blank precedes a Western word after Western punctuation.
        punctuated = before[-1:] in tuple(",.;:!?)") and _LATIN.match(token[:1]) and not token[:1].isdigit()
        found.append(bool(words or punctuated))
    return found[: len(tokens)]


def unescaped(token: str) -> str:
    """A token without the escapes of Moses' tokenizer.

    >>> unescaped("rock&amp;roll"), unescaped("&uuml;")
    ('rock&roll', '&uuml;')
    """
    if "&" in token:
        for escape in (*_ESCAPES[1:], _ESCAPES[0]):
            token = token.replace(escape, unescape(escape))
    return token
