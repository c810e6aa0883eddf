"""Inline markup, such as HTML or XML tags, carried from a sentence into its translation.

    das <b>kleine <i>Haus</i></b> brennt        the <b>little <i>house</i></b> is burning

A target word gets the elements that enclose the source word it is linked to. Of several source words in different
elements, the enclosing elements that most of them share win, the first source word's of equals (`ambiguous`). A word
without a link gets those elements that enclose both its nearest linked neighbours; beyond the first and the last linked
word, those that enclose the whole source sentence.

An element whose words are not together in the target (`split`) is repeated, or kept where most of its words are
(`largest`), or stretched over what lies between (`cover`). One of whose words none is linked is left out (`lost`). Elements
that would cross in the target are closed and opened again, so that the result is well-formed (`crossing`). A tag inside a
word moves to the edge of the word (`inside`); tags of elements without words (`<br/>`, `<img …>`) separate words. Such an
element is put before the translation
of the word that follows it, or behind that of the word before it where that has none; at the edge of a sentence it
stays there.

Names and attributes are copied as they are, and nothing is known about their meaning but which HTML elements are void.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from hyperbaton.align.projection import Conflict, Points, check_points, check_split
from hyperbaton.align.tags import Mark, scan
from hyperbaton.base.errors import InputError


@dataclass(frozen=True)
class Element:
    """A tag as written, its name, and the words it encloses: `begin` to `end`, half-open; none if both are equal."""

    tag: str
    name: str
    begin: int
    end: int
    single: bool  # written as one tag, without an end
    parent: int  # the number of the element around it, -1 if there is none


@dataclass
class MarkedSentence:
    """The words of a sentence and its elements, in the order of their start tags, parents before children."""

    words: list[str]
    elements: list[Element]
    conflicts: list[Conflict] = field(default_factory=list)

    def stacks(self) -> list[list[int]]:
        """The numbers of the elements that enclose each word, from the outside in."""
        stacks: list[list[int]] = []
        opened: list[int] = []
        following = 0
        for at in range(len(self.words)):
            while following < len(self.elements) and self.elements[following].begin <= at:
                opened.append(following)
                following += 1
            opened = [k for k in opened if at < self.elements[k].end]
            stacks.append(opened.copy())
        return stacks


@dataclass
class MarkedTranslation:
    """The translation with its tags, and what stood in the way."""

    text: str
    conflicts: list[Conflict]


def parse_inline(line: str) -> MarkedSentence:
    """Take the tags out of a sentence; a `<` that begins no tag is text.

    >>> found = parse_inline('das <b class="x">kleine Haus</b> <br/> brennt')
    >>> found.words, [(e.name, e.begin, e.end) for e in found.elements]
    (['das', 'kleine', 'Haus', 'brennt'], [('b', 1, 3), ('br', 3, 3)])
    """
    pieces: list[str] = []
    marks: list[tuple[int, Mark]] = []
    length = 0
    for mark in scan(line):
        if mark.kind == "text" or (mark.kind == "other" and not line.startswith("<!--", mark.begin)):
            pieces.append(line[mark.begin : mark.end])
        else:
            marks.append((length, mark))
            pieces.append(" " if mark.kind == "single" else "")
        length += len(pieces[-1])
    text = "".join(pieces)
    spans = [(match.start(), match.end()) for match in re.finditer(r"[^ ]+", text)]
    begins = [begin for begin, _ in spans]
    found = MarkedSentence([text[begin:end] for begin, end in spans], [])
    opened: list[int] = []
    for place, mark in marks:
        if mark.kind == "other":
            continue  # a comment
        tag = line[mark.begin : mark.end]
        before = bisect_left(begins, place)  # words that begin before the tag
        inside = before > 0 and place < spans[before - 1][1]
        if inside:
            found.conflicts.append(Conflict("inside", mark.name, (before - 1, before)))
        if mark.kind != "end":
            word = before - inside
            single = mark.kind == "single"
            found.elements.append(Element(tag, mark.name, word, word, single, opened[-1] if opened else -1))
            if not single:
                opened.append(len(found.elements) - 1)
            continue
        if not opened or found.elements[opened[-1]].name != mark.name:
            expected = f"</{found.elements[opened[-1]].name}>" if opened else "no end tag"
            raise InputError(f"{tag} where {expected} is expected")
        number = opened.pop()
        found.elements[number] = replace(found.elements[number], end=before)
    if opened:
        raise InputError(f"{found.elements[opened[-1]].tag} is not closed")
    return found


def project_markup(
    source: str | MarkedSentence,
    target: str | Sequence[str],
    links: Points,
    *,
    split: str = "repeat",
    spaces: Sequence[str] | None = None,
) -> MarkedTranslation:
    """Put the markup of a source sentence into its translation.

    Arguments:
        source: with tags, tokens separated by spaces; tags may touch words or stand alone.
        target: without tags, its tokens as a sequence or separated by spaces.
        links: (source word, target word), counted without the tags.
        split: what becomes of an element whose words are apart: repeat, largest or cover.
        spaces: what stands before each target token, for text that is not to be written as tokens.

    >>> links = [(0, 0), (1, 1), (2, 2), (3, 4)]
    >>> project_markup("das <b>kleine <i>Haus</i></b> brennt", "the little house is burning", links).text
    'the <b>little <i>house</i></b> is burning'
    """
    check_split(split)
    sentence = parse_inline(source) if isinstance(source, str) else source
    words = target.split() if isinstance(target, str) else list(target)
    if spaces is not None and len(spaces) != len(words):
        raise InputError(f"{len(spaces)} spaces for {len(words)} target words")
    check_points(links, len(sentence.words), len(words))
    conflicts = list(sentence.conflicts)
    stacks = _target_stacks(sentence, links, len(words), conflicts)
    _settle_splits(sentence, stacks, split, conflicts)
    text = "".join(_render(sentence, words, stacks, _placed(sentence, links, len(words)), spaces, conflicts))
    return MarkedTranslation(text, conflicts)


def _target_stacks(sentence: MarkedSentence, links: Points, n_target: int, conflicts: list[Conflict]) -> list[list[int]]:
    """The elements of each target word."""
    of_source = sentence.stacks()
    partners: list[list[int]] = [[] for _ in range(n_target)]
    for i, j in sorted(links):
        partners[j].append(i)
    whole = [k for k, e in enumerate(sentence.elements) if e.begin == 0 < e.end == len(sentence.words)]
    stacks: list[list[int] | None] = [None] * n_target
    for j, positions in enumerate(partners):
        counts = Counter(tuple(of_source[i]) for i in positions)
        if counts:
            chosen = max(counts, key=counts.__getitem__)
            stacks[j] = list(chosen)
            if len(counts) > 1:
                names = " ".join(sentence.elements[k].name for k in chosen)
                conflicts.append(Conflict("ambiguous", names, (positions[0], positions[-1] + 1), (j, j + 1)))
    # The nearest linked neighbour on either side; both stacks are paths from the root, so they share a prefix.
    left, right = [whole], [whole]
    for stack in stacks:
        left.append(left[-1] if stack is None else stack)
    for stack in reversed(stacks):
        right.append(right[-1] if stack is None else stack)
    settled: list[list[int]] = []
    for j, stack in enumerate(stacks):
        first, second = left[j], right[n_target - j]
        settled.append(first[: _n_shared(first, second)] if stack is None else stack)
    return settled


def _n_shared(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the longest common prefix."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))


def _settle_splits(sentence: MarkedSentence, stacks: list[list[int]], split: str, conflicts: list[Conflict]) -> None:
    """Find elements that are lost or apart, and apply the rule for the latter."""
    places: list[list[int]] = [[] for _ in sentence.elements]
    for j, stack in enumerate(stacks):
        for k in stack:
            places[k].append(j)
    changed: dict[int, set[int]] = {}
    for k, element in enumerate(sentence.elements):
        if element.begin == element.end:
            continue
        inside = places[k]
        runs = _consecutive(inside)
        span = (element.begin, element.end)
        if not runs:
            conflicts.append(Conflict("lost", element.name, span))
        elif len(runs) > 1:
            conflicts.append(Conflict("split", element.name, span, (inside[0], inside[-1] + 1)))
            kept = max(runs, key=lambda run: run[1] - run[0])
            whole = {"largest": kept, "cover": (inside[0], inside[-1] + 1)}.get(split)
            for j in set(inside).symmetric_difference(range(*whole)) if whole is not None else ():
                changed.setdefault(j, set(stacks[j])).symmetric_difference_update([k])
    for j, numbers in changed.items():
        stacks[j] = sorted(numbers)  # parents have smaller numbers than children


def _consecutive(positions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for j in positions:
        if runs and runs[-1][1] == j:
            runs[-1] = (runs[-1][0], j + 1)
        else:
            runs.append((j, j + 1))
    return runs


def _placed(sentence: MarkedSentence, links: Points, n_target: int) -> list[tuple[int, int]]:
    """(target position, element) of the elements without words, each before the word at that position."""
    targets: dict[int, list[int]] = defaultdict(list)
    for i, j in links:
        targets[i].append(j)
    # The first target word of the words after each one.
    later = [n_target] * (len(sentence.words) + 1)
    for i in range(len(sentence.words) - 1, 0, -1):
        later[i - 1] = min([later[i], *targets[i]])
    placed = []
    for k, element in enumerate(sentence.elements):
        parent = sentence.elements[element.parent] if element.parent >= 0 else None
        if element.begin != element.end or (parent is not None and parent.begin == parent.end):
            continue  # what is inside an element without words goes with it
        at = element.begin
        if at == 0 or at == len(sentence.words):
            place = 0 if at == 0 else n_target
        elif targets[at] or targets[at - 1]:
            place = min(targets[at]) if targets[at] else max(targets[at - 1]) + 1
        else:
            place = later[at]
        placed.append((place, k))
    return sorted(placed)


def _render(
    sentence: MarkedSentence,
    words: Sequence[str],
    stacks: Sequence[Sequence[int]],
    placed: Sequence[tuple[int, int]],
    spaces: Sequence[str] | None,
    conflicts: list[Conflict],
) -> Iterator[str]:
    """The pieces of the translation; elements are closed and opened where the elements of words change."""
    elements = sentence.elements
    at_place: dict[int, list[int]] = defaultdict(list)
    for place, k in placed:
        at_place[place].append(k)
    inside: dict[int, list[int]] = defaultdict(list)
    for k, element in enumerate(elements):
        inside[element.parent].append(k)
    opened: list[int] = []
    for j in range(len(words) + 1):
        stack = list(stacks[j]) if j < len(words) else []
        same = _n_shared(opened, stack)
        closing, opening, staying = set(opened[same:]), set(stack[same:]), set(stack)
        for k in opened[same:]:
            if k in staying:
                conflicts.append(Conflict("crossing", elements[k].name, (elements[k].begin, elements[k].end), (j, j + 1)))
        # An element without words stays inside the one that it was in, where that is open before or after this place.
        last_inside: dict[int, list[int]] = defaultdict(list)
        first_inside: dict[int, list[int]] = defaultdict(list)
        between: list[int] = []
        for k in at_place[j]:
            parent = elements[k].parent
            if parent in closing and parent not in staying:
                last_inside[parent].append(k)
            elif parent in opening:
                first_inside[parent].append(k)
            else:
                between.append(k)
        for parent in reversed(opened[same:]):
            yield from _without_words(elements, inside, last_inside[parent])
            yield f"</{elements[parent].name}>"
        if j < len(words):
            yield (" " if j else "") if spaces is None else spaces[j]
        yield from _without_words(elements, inside, between)
        for parent in stack[same:]:
            yield elements[parent].tag
            yield from _without_words(elements, inside, first_inside[parent])
        yield from words[j : j + 1]
        opened = stack


def _without_words(elements: Sequence[Element], inside: dict[int, list[int]], numbers: Sequence[int]) -> Iterator[str]:
    """Elements without words, with those inside them."""
    left: list[str | int] = list(reversed(numbers))
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
            continue
        yield elements[item].tag
        if not elements[item].single:
            left += [f"</{elements[item].name}>", *reversed(inside[item])]
