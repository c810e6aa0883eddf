"""Numbers of things in messages: `1 sentence`, `2,000 sentences`."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "", form: str = ",") -> str:
    """A number with its noun; `plural` where that is not the noun with an s, `form` of the number as in an f-string.

    >>> counted(1, "sentence"), counted(2000, "sentence"), counted(0, "entry", "entries"), counted(1000, "token", form="d")
    ('1 sentence', '2,000 sentences', '0 entries', '1000 tokens')
    """
    return f"{n:{form}} {noun if n == 1 else plural or f'{noun}s'}"
