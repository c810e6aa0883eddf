"""Placeholders for addresses and numbers.

No tokenizer may change addresses and numbers with separators. `mask` replaces each by a character of a private range;
`MaskedText.restore` restores the text of the tokens. A tokenizer leaves such a character as a separate token, since it is
surrounded by blanks.

>>> masked = mask("See <b>https://a.org/x</b>, 3.5 km")
>>> [masked.texts[c] for c in masked.text if c in masked.texts]
['https://a.org/x', '3.5']

A system may be trained with one word for all addresses, and one for all numbers that have separators or at least three
digits: `generalize` puts these placeholders into a bitext, where both sides have the same number or address.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hyperbaton.corpus.text import Text, Vocabulary
from hyperbaton.corpus.tokenizers import Tokenizer

NUMBER, ADDRESS = "@number@", "@address@"
PLACEHOLDERS = (NUMBER, ADDRESS)

# A run that may start an address is examined once, from its first character, and repetitions do not backtrack where that
# cannot help, so the time of a search is linear in the length of the text, not quadratic.
# Tags as people write them; "a < b" and "<3" are not tags.
_TAG_VALUE = r"(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=]++)"
TAG = re.compile(rf"</?[A-Za-z][\w:.-]*+(?:\s++[\w:.-]++(?:\s*+=\s*+{_TAG_VALUE})?)*\s*+/?>")
_URL = r"[!#-&*-;=?-~]+[0-9A-Za-z/=_&#-]"  # ASCII without quotes, brackets and closing punctuation
# Letters and digits, except in scripts without blanks, where numbers touch words.
_LETTER = r"[^\W\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f]"
_HOST = rf"(?:{_LETTER}|-)+"
_USER = rf"(?<!{_LETTER})(?<![.+-])(?:{_LETTER}|[.+-])+"
_SEPARATED = r"\d++(?:[.,:\u00a0\u202f]\d++)+"
_NUMBER = rf"(?<!{_LETTER})(?<![.,]){_SEPARATED}(?!{_LETTER})"
_NUMBER_TOKEN = re.compile(rf"{_SEPARATED}|\d{{3,}}+")
# Not compiled here: few commands and stages need these two, and compiling them takes 5 % of the start of all others.
_ADDRESS = rf"(?i:https?|ftp)://{_URL}|www\.{_URL}|{_USER}@{_HOST}(?:\.{_HOST})+"
_PROTECTED = rf"(?P<tag>{TAG.pattern})|(?:{_ADDRESS})|(?:{_NUMBER})|[\ue000-\uf8ff]"
_PRIVATE = range(0xE000, 0xF000)


@dataclass
class MaskedText:
    """Text in which private characters replace others, by character."""

    text: str
    texts: dict[str, str] = field(default_factory=dict)

    def restore(self, token: str) -> str:
        """A token with its original text."""
        return "".join(self.texts.get(char, char) for char in token) if self.texts else token


def mask(text: str) -> MaskedText:
    """Replace addresses and numbers, but not those inside tags, by private characters."""
    masked, free = MaskedText(text), iter(_PRIVATE)

    def put(match: re.Match[str]) -> str:
        whole = match[0]
        if match["tag"] is not None:
            return whole
        number = next(free, None)
        if number is None:  # thousands of them in one paragraph: the rest is ordinary text
            return " " if "\ue000" <= whole <= "\uf8ff" else whole
        masked.texts[chr(number)] = whole
        return f" {chr(number)} "

    masked.text = re.sub(_PROTECTED, put, text)
    return masked


class Protecting(Tokenizer):
    """A tokenizer that leaves addresses and numbers with separators whole."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.has_tags = tokenizer.has_tags  # type: ignore[misc]

    def split(self, line: str) -> list[tuple[str, str]]:
        masked = mask(line)
        return [(masked.restore(token), tag) for token, tag in self.tokenizer.split(masked.text)]


def placeholder(token: str) -> str | None:
    """The placeholder that a token may be generalized to, if it is a number or an address.

    >>> placeholder("1,234.5"), placeholder("1990"), placeholder("12"), placeholder("me@a.org"), placeholder("1990s")
    ('@number@', '@number@', None, '@address@', None)
    """
    if token.isalpha():  # most are
        return None
    if _NUMBER_TOKEN.fullmatch(token):
        return NUMBER
    return ADDRESS if re.fullmatch(_ADDRESS, token) else None


def generalize(source: Text, target: Text) -> tuple[Text, Text]:
    """Replace numbers and addresses that occur equally often on both sides of a pair by placeholders.

    Numbers are equal if their digits are, with any separators.

    >>> sides = generalize(Text.of(["am 3. Mai 1990 1.234,5 km , 700"]), Text.of(["1,234.5 km on 3 May 1990"]))
    >>> print(*sides[0][0], *sides[1][0])
    am 3. Mai @number@ @number@ km , 700 @number@ km on 3 May @number@
    """
    both = _values(source), _values(target)
    sides: tuple[list[int], list[int]] = ([], [])
    for sentence in both[0].keys() & both[1].keys():
        counts = [Counter(key for _, key in values[sentence]) for values in both]
        shared = {key for key, n in counts[0].items() if counts[1][key] == n}
        for places, values in zip(sides, both, strict=True):
            places += [place for place, key in values[sentence] if key in shared]
    return _with_placeholders(source, sides[0]), _with_placeholders(target, sides[1])


def _key(word: str) -> str | None:
    """The key by which numbers and addresses are compared."""
    kind = placeholder(word)
    if kind == NUMBER:
        return "".join(c for c in unicodedata.normalize("NFKC", word) if c.isdigit())
    return None if kind is None else word.casefold()


def _values(text: Text) -> dict[int, list[tuple[int, str]]]:
    """Numbers and addresses by sentence: their positions among all tokens, and their keys."""
    keys = [_key(word) for word in text.vocabulary.words()]
    is_value = np.array([key is not None for key in keys], bool)
    places = np.flatnonzero(is_value[text.tokens]) if len(keys) else np.zeros(0, np.int64)
    values: dict[int, list[tuple[int, str]]] = {}
    for sentence, place in zip((np.searchsorted(text.offsets, places, side="right") - 1).tolist(), places, strict=True):
        values.setdefault(sentence, []).append((int(place), str(keys[text.tokens[place]])))
    return values


def _with_placeholders(text: Text, places: Sequence[int]) -> Text:
    both = text.over(Vocabulary.of(PLACEHOLDERS))  # whose words come first
    tokens = both.tokens.copy()
    for place in places:
        kind = placeholder(both.vocabulary.word(tokens[place]))
        tokens[place] = PLACEHOLDERS.index(str(kind))
    # Words that no longer occur, and unused placeholders, are not part of the text.
    used, numbers = np.unique(tokens, return_inverse=True)
    return replace(text, tokens=numbers.astype(np.uint32).reshape(-1), vocabulary=both.vocabulary.select(used))
