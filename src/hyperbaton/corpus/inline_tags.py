"""Tags inside sentences (`<b>…</b>`): taken out before translation, put back around the words that are linked to theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_NAME = re.compile(r"</?([\w:.-]+)")


class InlineTag(NamedTuple):
    """A tag around the words [begin, end) of a sentence.

    `opening` or `closing` is empty where that end lies in another sentence; a tag without an inside has begin = end.
    """

    begin: int
    end: int
    opening: str
    closing: str


class Placed(NamedTuple):
    """Tags of a translation: what stands directly before and after each word, and alone where there is no word."""

    before: list[str]
    after: list[str]
    alone: str


def pair_tags(tags: Sequence[tuple[int, str]], n_words: int) -> list[InlineTag]:
    """Make pairs of tags, given as (number of words before it, text) in their order.

    >>> pair_tags([(0, "<b>"), (2, "</b>"), (2, "<br/>"), (3, "<i>")], 4)
    [InlineTag(begin=0, end=2, opening='<b>', closing='</b>'), InlineTag(begin=2, end=2, opening='<br/>', closing=''), \
InlineTag(begin=3, end=4, opening='<i>', closing='')]
    """
    found: list[tuple[int, InlineTag]] = []  # with the place of the tag that comes first, to keep their order
    opened: list[tuple[int, int, str]] = []
    for place, (at, text) in enumerate(tags):
        if text.startswith("</"):
            same = [i for i, (_, _, opening) in enumerate(opened) if _name(opening) == _name(text)]
            if same:
                first, begin, opening = opened.pop(same[-1])
                found.append((first, InlineTag(begin, at, opening, text)))
            else:
                found.append((-1, InlineTag(0, at, "", text)))
        elif text.endswith("/>") or _name(text) in ("br", "img", "hr", "wbr", "input"):
            found.append((place, InlineTag(at, at, text, "")))
        else:
            opened.append((place, at, text))
    found += [(first, InlineTag(begin, n_words, opening, "")) for first, begin, opening in opened]
    # An outer tag comes before those inside it.
    return [tag for _, tag in sorted(found, key=lambda item: (item[0], -item[1].end))]


def place_tags(tags: Sequence[InlineTag], links: Sequence[tuple[int, int]], n_target: int) -> Placed:
    """Put tags around target words: from the first to the last word that is linked to a word inside the tag.

    Tags never cross: of two that would, the second keeps the part that lies outside or inside the first.

    >>> place_tags(pair_tags([(0, "<b>"), (1, "</b>")], 2), [(0, 1), (1, 0)], 2)
    Placed(before=['', '<b>'], after=['', '</b>'], alone='')
    """
    before, after = [""] * n_target, [""] * n_target
    if n_target == 0:
        return Placed(before, after, "".join(tag.opening + tag.closing for tag in tags))
    placed: list[tuple[int, int, InlineTag]] = []
    for tag in tags:
        begin, end = _target_span(tag, links, n_target)
        for other_begin, other_end, _ in placed:
            if begin < other_begin < end < other_end:
                end = other_begin
            elif other_begin < begin < other_end < end:
                begin = other_end
        placed.append((begin, end, tag))
    # Wider tags outside: those of the same width keep their order.
    order = sorted(range(len(placed)), key=lambda i: (placed[i][0] - placed[i][1], i))
    for i in order:
        begin, end, tag = placed[i]
        if begin == end:  # no word inside: all of it stands in one place
            if begin < n_target:
                before[begin] += tag.opening + tag.closing
            else:
                after[-1] += tag.opening + tag.closing
        else:
            before[begin] += tag.opening
            after[end - 1] = tag.closing + after[end - 1]
    return Placed(before, after, "")


def _target_span(tag: InlineTag, links: Sequence[tuple[int, int]], n_target: int) -> tuple[int, int]:
    inside = [j for i, j in links if tag.begin <= i < tag.end]
    if inside:
        return min(inside), max(inside) + 1
    # Behind what the nearest linked word before it became.
    left = [(i, j) for i, j in links if i < tag.begin]
    at = max((j for i, j in left if i == max(left)[0]), default=-1) + 1
    if not left:
        at = 0
    return min(at, n_target), min(at, n_target)


def _name(tag: str) -> str:
    match = _NAME.match(tag)
    return match[1].lower() if match else ""
