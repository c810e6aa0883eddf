"""Counts and nouns in messages: `1 sentence`, `2,000 sentences`, `an aligner`."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "", form: str = ",") -> str:
    """A number with its noun; `plural` if it is irregular, `form` is the number's format as in an f-string.

    >>> counted(1, "sentence"), counted(2000, "sentence"), counted(0, "entry", "entries"), counted(1000, "token", form="d")
    ('1 sentence', '2,000 sentences', '0 entries', '1000 tokens')
    """
    return f"{n:{form}} {noun if n == 1 else plural or f'{noun}s'}"


def with_article(noun: str) -> str:
    """A noun with "a" or "an"; names of one or two letters are read letter by letter.

    >>> with_article("system"), with_article("aligner"), with_article("lm artefact")
    ('a system', 'an aligner', 'an lm artefact')
    """
    first = noun.split()[0]
    spelled = len(first) <= 2 and first[0] in "aefhilmnorsx"
    return f"{'an' if spelled or noun[0] in 'aeiou' else 'a'} {noun}"
