"""Number formats of languages: 1.234,5 in German is 1,234.5 in English.

Only a number that is well formed in its own language is rewritten; dates, times and versions (12.05.2020, 3:30, 1.2.3)
are well formed in none, and are not changed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NO_BREAK = "\u00a0", "\u202f"  # blanks inside numbers


class NumberFormat(NamedTuple):
    """The separators of groups of three digits, and of decimals."""

    groups: tuple[str, ...]  # the first is the one to write
    decimal: str


POINT = NumberFormat((",",), ".")
COMMA = NumberFormat((".",), ",")
BLANK = NumberFormat(_NO_BREAK[::-1], ",")
_LANGUAGES = {
    POINT: "en ja ko th zh",
    COMMA: "da de el es hr id it nl pt ro sl sr tr vi",
    BLANK: "bg cs et fi fr hu lt lv nb nn no pl ru sk sv uk",
}
FORMATS = {language: written for written, languages in _LANGUAGES.items() for language in languages.split()}


def rewrite_number(number: str, source: str, target: str) -> str:
    """A number of one language in the format of another; unchanged if a format is unknown, or the number does not match it.

    >>> rewrite_number("1.234,5", "de", "en"), rewrite_number("1,234.5", "en", "de"), rewrite_number("3.5", "ja", "fr")
    ('1,234.5', '1.234,5', '3,5')
    >>> rewrite_number("12.05.2020", "de", "en"), rewrite_number("3:30", "en", "de"), rewrite_number("1,234", "ar", "de")
    ('12.05.2020', '3:30', '1,234')
    """
    old, new = FORMATS.get(source), FORMATS.get(target)
    if old is None or new is None or old == new:
        return number
    between = "|".join(map(re.escape, old.groups))
    match = re.fullmatch(rf"(\d{{1,3}}(?:(?:{between})\d{{3}})+|\d+)(?:{re.escape(old.decimal)}(\d+))?", number)
    if match is None:
        return number
    whole, decimals = match.groups()
    for separator in old.groups:
        whole = whole.replace(separator, new.groups[0])
    return whole if decimals is None else f"{whole}{new.decimal}{decimals}"
