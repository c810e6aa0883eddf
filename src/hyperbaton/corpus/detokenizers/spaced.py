"""Languages with blanks between words: English, German, Arabic and others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.corpus.detokenizers import Detokenizer

_CLOSING = frozenset(",.;:!?…%)]}»”’،؛؟٪。、，")
_OPENING = frozenset("([{«“‘¿¡„‚")
_CURRENCY = frozenset("$£€¥#")
_STRAIGHT = frozenset("\"'")
_CLITIC = re.compile(r"['’][A-Za-z]+$")  # 's, 've, 'clock
_MARKS = re.compile(r"[.,;:!?…،؛؟]+$")
_NUMBER = re.compile(r"\d+([.,]\d+)*$")
_ELISION = re.compile(r"[A-Za-zÀ-ÿ]+['’]$")


@dataclass
class Spaced(Detokenizer):
    """Blanks between words, but not before closing or after opening punctuation; quotes alternate, clitics are joined."""

    language: str = option("en", "two-letter code: decides quotes and elisions")

    def blanks(self, tokens: Sequence[str]) -> list[bool]:
        found, opened = [], dict.fromkeys(_STRAIGHT, False)
        glued = False  # the token before attaches to this one
        for i, token in enumerate(tokens):
            before = tokens[i - 1] if i else ""
            following = tokens[i + 1] if i + 1 < len(tokens) else ""
            blank, holds = True, False
            if token in _CLOSING or _MARKS.match(token):
                # German „…“ closes with the mark that opens elsewhere.
                blank = False
            elif self.language == "de" and token in "“‘" and "„" in tokens[:i]:
                blank = False
            elif token in _OPENING or (token in _CURRENCY and _NUMBER.match(following)):
                holds = True
            elif token == "'" and self._is_possessive(before, opened["'"]):
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
            elif self.language in ("fr", "it", "ca") and _ELISION.match(token):
                holds = True
            found.append(blank and not glued)
            glued = holds
        return found

    def _is_possessive(self, before: str, opened: bool) -> bool:
        return self.language == "en" and not opened and before.endswith(("s", "S")) and before[:1].isalpha()


def _joins(before: str, following: str, mark: str) -> bool:
    """Whether a mark joins its neighbours: a slash between words, a dash between numbers."""
    if mark == "/":
        return before[-1:].isalnum() and following[:1].isalnum()
    return before[-1:].isdigit() and following[:1].isdigit()
