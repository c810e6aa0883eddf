"""Markup in sentences, as in Moses: required translations, zones and walls.

das ist <x translation="a small house">ein kleines haus</x>      this translation for these words
<zone> ein wort </zone>                                          once entered, translated completely before leaving it
er kam <wall/> sie ging                                          the left part is translated before the right part
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

import numpy as np

from hyperbaton.base.errors import SentenceError
from hyperbaton.corpus import Text

_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)((?:\s++[\w-]++=\"[^\"]*+\")*)\s*+(/?)>")
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]++)=\"([^\"]*+)\"")
PUNCTUATION = frozenset(',.!?:;"')


class Demand(NamedTuple):
    """A span (sentence, first word, one past the last) and its required translation."""

    span: tuple[int, int, int]
    translation: str


@dataclass
class Markup:
    """Sentences without their markup, and its content, by sentence."""

    lines: list[str]
    demands: list[Demand] = field(default_factory=list)
    zones: list[tuple[int, int, int]] = field(default_factory=list)
    walls: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def none(cls, lines: Sequence[str]) -> Markup:
        return cls(list(lines))

    def any(self) -> bool:
        return bool(self.demands or self.zones or self.walls)


def parse_markup(lines: Sequence[str]) -> Markup:
    """Remove the markup from sentences.

    >>> found = parse_markup(['das <x translation="a house">haus</x> <wall/> da'])
    >>> found.lines, found.demands[0], found.walls
    (['das haus da'], Demand(span=(0, 1, 2), translation='a house'), [(0, 1)])
    """
    markup = Markup([])
    for number, line in enumerate(lines):
        words: list[str] = []
        opened: list[tuple[str, dict[str, str], int]] = []
        at = 0
        for tag in _TAG.finditer(line):
            words += line[at : tag.start()].split()
            at = tag.end()
            closing, name, attributes, single = tag.groups()
            if name == "wall":
                if words:
                    markup.walls.append((number, len(words) - 1))
            elif not closing and not single:
                opened.append((name, dict(_ATTRIBUTE.findall(attributes)), len(words)))
            elif closing:
                if not opened or opened[-1][0] != name:
                    raise SentenceError(f"</{name}> closes nothing", number + 1)
                _, values, begin = opened.pop()
                if begin == len(words):
                    raise SentenceError(f"there is nothing inside <{name}>", number + 1)
                if name == "zone":
                    markup.zones.append((number, begin, len(words)))
                elif "translation" in values:
                    if len(words) - begin > 255:
                        raise SentenceError(f"more than 255 words inside <{name}>", number + 1)
                    markup.demands.append(Demand((number, begin, len(words)), unescape(values["translation"])))
        if opened:
            raise SentenceError(f"<{opened[-1][0]}> is not closed", number + 1)
        words += line[at:].split()
        markup.lines.append(" ".join(words))
    markup.zones.sort()
    markup.demands.sort()
    for a, b in zip(markup.demands, markup.demands[1:], strict=False):
        if a.span[0] == b.span[0] and b.span[1] < a.span[2]:
            raise SentenceError("required translations overlap", a.span[0] + 1)
    return markup


def punctuation_walls(source: Text) -> list[tuple[int, int]]:
    """Walls before and after punctuation, as Moses puts them.

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
