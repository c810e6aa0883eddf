"""Porter's stemmer of English (Porter 1980, "An algorithm for suffix stripping").

A word is [C](VC)^m[V] with C and V runs of consonants and vowels; each step removes or replaces a suffix if the rest
of the word has a large enough m, or a vowel.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

_STEP_2 = [
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
]  # fmt: skip
_STEP_3 = [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")]
_STEP_4 = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
]  # fmt: skip


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word; words of one or two letters are their own.

    >>> [stem(word) for word in ("relational", "ponies", "hopping", "filing", "controlled", "sky", "happy")]
    ['relat', 'poni', 'hop', 'file', 'control', 'sky', 'happi']
    """
    if len(word) <= 2:
        return word
    word = _step_1(word)
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    return _step_5(_step_4(word))


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix):
                if _has_vowel(word[: -len(suffix)]):
                    word = _mended(word[: -len(suffix)])
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mended(word: str) -> str:
    """Restore the stem after removing -ed or -ing: conflat(e), hop(p), fil(e)."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double_consonant(word) and word[-1] not in "lsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_cvc(word):
        return word + "e"
    return word


def _replaced(word: str, rules: list[tuple[str, str]]) -> str:
    """Apply the rule with the longest matching suffix, if the rest of the word is long enough."""
    fitting = [rule for rule in rules if word.endswith(rule[0])]
    if not fitting:
        return word
    suffix, replacement = max(fitting, key=lambda rule: len(rule[0]))
    rest = word[: -len(suffix)]
    return rest + replacement if _measure(rest) > 0 else word


def _step_4(word: str) -> str:
    fitting = [suffix for suffix in _STEP_4 if word.endswith(suffix)]
    if not fitting:
        return word
    suffix = max(fitting, key=len)
    rest = word[: -len(suffix)]
    if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
        return rest
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _is_consonant(word: str, i: int) -> bool:
    if word[i] == "y":
        return i == 0 or not _is_consonant(word, i - 1)
    return word[i] not in "aeiou"


def _measure(word: str) -> int:
    """m: how often a consonant follows a vowel."""
    shape = [_is_consonant(word, i) for i in range(len(word))]
    return sum(not before and after for before, after in pairwise(shape))


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, i) for i in range(len(word)))


def _ends_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _ends_cvc(word: str) -> bool:
    n = len(word)
    if n < 3 or word[-1] in "wxy":
        return False
    return _is_consonant(word, n - 3) and not _is_consonant(word, n - 2) and _is_consonant(word, n - 1)
