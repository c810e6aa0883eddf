"""Markup in sentences, as in Moses: required translations, zones and walls.

das ist <x translation="a small house">ein kleines haus</x>      this translation for these words
<zone> ein wort </zone>                                          once entered, translated completely before leaving it
er kam <wall/> sie ging                                          the left part is translated before the right part
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from hyperbaton.base.errors import SentenceError
from hyperbaton.corpus import Text

_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)((?:\s++[\w-]++=\"[^\"]*+\")*)\s*+(/?)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)=\"([^\"]*+)\"")
PUNCTUATION = frozenset(',.!?:;"')


@dataclass(frozen=True)
class Constraints:
    """Constraints on the translation of one sentence; spans are half-open, over its words.

    Arguments:
        demands: first word, one past the last, required translation.
        zones: first word, one past the last.
        walls: the word before each.
    """

    demands: tuple[tuple[int, int, str], ...] = ()
    zones: tuple[tuple[int, int], ...] = ()
    walls: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, demands: Iterable[Sequence[Any]] = (), zones: Iterable[Sequence[int]] = (), walls: Iterable[int] = ()
    ) -> Constraints:
        """Constraints in any order."""
        spans = tuple(sorted((begin, end) for begin, end in zones))
        return cls(tuple(sorted((begin, end, text) for begin, end, text in demands)), spans, tuple(sorted(walls)))

    def __bool__(self) -> bool:
        return bool(self.demands or self.zones or self.walls)

    @property
    def overlap(self) -> bool:
        """Whether two required translations have a source word in common."""
        return any(after[0] < before[1] for before, after in pairwise(self.demands))

    def demand(self, demands: Iterable[tuple[int, int, str]]) -> Constraints:
        """Add required translations, except of words that already have one."""
        new = [(b, e, text) for b, e, text in demands if all(e <= begin or end <= b for begin, end, _ in self.demands)]
        return replace(self, demands=tuple(sorted([*self.demands, *new])))


class Terms(Protocol):
    """Terms whose translations are required wherever they occur; `Glossary` of `decode.raw` describes the methods."""

    def add_to(
        self, constraints: Constraints, tokens: Sequence[str], number: int, check: Callable[[], None] = ...
    ) -> Constraints: ...

    def take_conflicts(self) -> list[str]: ...


FREE = Constraints()


def parse_markup(line: str, number: int = 1) -> tuple[str, Constraints]:
    """Remove the markup from a sentence; its number is for error messages.

    >>> parse_markup('das <x translation="a house">haus</x> <wall/> da')
    ('das haus da', Constraints(demands=((1, 2, 'a house'),), zones=(), walls=(1,)))
    """
    words: list[str] = []
    opened: list[tuple[str, dict[str, str], int]] = []
    demands: list[tuple[int, int, str]] = []
    zones: list[tuple[int, int]] = []
    walls: list[int] = []
    at = 0
    for tag in _TAG.finditer(line):
        words += line[at : tag.start()].split()
        at = tag.end()
        closing, name, attributes, single = tag.groups()
        if name == "wall":
            walls += [len(words) - 1] if words else []
        elif not closing and not single:
            opened.append((name, dict(_ATTRIBUTE.findall(attributes)), len(words)))
        elif closing:
            if not opened or opened[-1][0] != name:
                raise SentenceError(f"</{name}> closes nothing", number)
            _, values, begin = opened.pop()
            if begin == len(words):
                raise SentenceError(f"there is nothing inside <{name}>", number)
            if name == "zone":
                zones.append((begin, len(words)))
            elif "translation" in values:
                if len(words) - begin > 255:
                    raise SentenceError(f"more than 255 words inside <{name}>", number)
                from html import unescape  # imported here: it has the names of all characters

                demands.append((begin, len(words), unescape(values["translation"])))
    if opened:
        raise SentenceError(f"<{opened[-1][0]}> is not closed", number)
    constraints = Constraints.of(demands, zones, walls)
    if constraints.overlap:
        raise SentenceError("required translations overlap", number)
    return " ".join([*words, *line[at:].split()]), constraints


def punctuation_walls(source: Text) -> list[tuple[int, int]]:
    """Walls before and after punctuation, as in Moses.

    >>> punctuation_walls(Text.of(["a b , c d"]))
    [(0, 1), (0, 2)]
    """
    numbers = [n for n in (source.vocabulary.number(mark) for mark in PUNCTUATION) if n >= 0]
    where = np.flatnonzero(np.isin(source.tokens, numbers))
    sentences = np.searchsorted(source.offsets, where, side="right") - 1
    positions = where - source.offsets[sentences]
    lengths = source.lengths[sentences]
    walls = set()
    for s, i, n in zip(sentences.tolist(), positions.tolist(), lengths.tolist(), strict=True):
        if 0 < i < n - 1:
            walls.add((s, i))
        if i > 1:
            walls.add((s, i - 1))
    return sorted(walls)
