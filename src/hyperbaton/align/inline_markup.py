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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from hyperbaton.align.projection import Conflict, Points, check_points, check_split
from hyperbaton.base.errors import InputError

# Elements of HTML that have no end tag.
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
_VALUE = r"""(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++)"""
_COMMENT = "<!--(?:(?!<!--).)*?-->"  # without another inside, so that comments that never end are looked at once each
_TAG = re.compile(
    rf"{_COMMENT}|<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*+)(?:\s++[\w:.-]++(?:\s*+=\s*+{_VALUE})?)*\s*+(?P<empty>/?)>"
)


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
        return [
            [k for k, element in enumerate(self.elements) if element.begin <= at < element.end]
            for at in range(len(self.words))
        ]


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
    text, marks, at = "", [], 0
    for match in _TAG.finditer(line):
        text += line[at : match.start()]
        marks.append((len(text), match))
        text += " " if _is_single(match) else ""
        at = match.end()
    text += line[at:]
    spans = [(match.start(), match.end()) for match in re.finditer(r"[^ ]+", text)]
    begins = [begin for begin, _ in spans]
    found = MarkedSentence([text[begin:end] for begin, end in spans], [])
    opened: list[int] = []
    for place, match in marks:
        name = match["name"]
        if name is None:
            continue  # a comment
        before = bisect_left(begins, place)  # words that begin before the tag
        inside = before > 0 and place < spans[before - 1][1]
        if inside:
            found.conflicts.append(Conflict("inside", name, (before - 1, before)))
        if not match["close"]:
            word = before - inside
            found.elements.append(Element(match[0], name, word, word, _is_single(match), opened[-1] if opened else -1))
            if not _is_single(match):
                opened.append(len(found.elements) - 1)
            continue
        if not opened or found.elements[opened[-1]].name != name:
            expected = f"</{found.elements[opened[-1]].name}>" if opened else "no end tag"
            raise InputError(f"{match[0]} where {expected} is expected")
        number = opened.pop()
        found.elements[number] = replace(found.elements[number], end=before)
    if opened:
        raise InputError(f"{found.elements[opened[-1]].tag} is not closed")
    return found


def _is_single(match: re.Match[str]) -> bool:
    """Whether a tag is an element of its own."""
    return bool(match["empty"]) or ((match["name"] or "").lower() in VOID and not match["close"])


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
    settled: list[list[int]] = []
    for j, stack in enumerate(stacks):
        if stack is None:
            left = next((s for s in stacks[j::-1] if s is not None), whole)
            right = next((s for s in stacks[j:] if s is not None), whole)
            stack = [k for k in left if k in right]
        settled.append(stack)
    return settled


def _settle_splits(sentence: MarkedSentence, stacks: list[list[int]], split: str, conflicts: list[Conflict]) -> None:
    """Find elements that are lost or apart, and apply the rule for the latter."""
    for k, element in enumerate(sentence.elements):
        if element.begin == element.end:
            continue
        inside = [j for j, stack in enumerate(stacks) if k in stack]
        runs = _consecutive(inside)
        span = (element.begin, element.end)
        if not runs:
            conflicts.append(Conflict("lost", element.name, span))
        elif len(runs) > 1:
            conflicts.append(Conflict("split", element.name, span, (inside[0], inside[-1] + 1)))
            kept = max(runs, key=lambda run: run[1] - run[0])
            for j, stack in enumerate(stacks):
                if split == "largest" and k in stack and not kept[0] <= j < kept[1]:
                    stack.remove(k)
                elif split == "cover" and k not in stack and inside[0] <= j <= inside[-1]:
                    stack.append(k)
                    stack.sort()  # parents have smaller numbers than children


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
    placed = []
    for k, element in enumerate(sentence.elements):
        parent = sentence.elements[element.parent] if element.parent >= 0 else None
        if element.begin != element.end or (parent is not None and parent.begin == parent.end):
            continue  # what is inside an element without words goes with it
        at = element.begin
        following = [j for i, j in links if i == at]
        preceding = [j for i, j in links if i == at - 1]
        if at == 0 or at == len(sentence.words):
            place = 0 if at == 0 else n_target
        elif following or preceding:
            place = min(following) if following else max(preceding) + 1
        else:
            later = [j for i, j in links if i > at]
            place = min(later) if later else n_target
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
    opened: list[int] = []
    for j in range(len(words) + 1):
        stack = list(stacks[j]) if j < len(words) else []
        same = 0
        while same < min(len(opened), len(stack)) and opened[same] == stack[same]:
            same += 1
        for k in opened[same:]:
            if k in stack:
                conflicts.append(Conflict("crossing", elements[k].name, (elements[k].begin, elements[k].end), (j, j + 1)))
        # An element without words stays inside the one that it was in, where that is open before or behind this place.
        here = {k: elements[k].parent for place, k in placed if place == j}
        last_inside = {k for k, parent in here.items() if parent in opened[same:] and parent not in stack}
        first_inside = {k for k, parent in here.items() if parent in stack[same:]}
        for parent in reversed(opened[same:]):
            yield from (_without_words(elements, k) for k in here if k in last_inside and here[k] == parent)
            yield f"</{elements[parent].name}>"
        if j < len(words):
            yield (" " if j else "") if spaces is None else spaces[j]
        yield from (_without_words(elements, k) for k in here if k not in last_inside | first_inside)
        for parent in stack[same:]:
            yield elements[parent].tag
            yield from (_without_words(elements, k) for k in here if k in first_inside and here[k] == parent)
        yield from words[j : j + 1]
        opened = stack


def _without_words(elements: Sequence[Element], number: int) -> str:
    """An element without words, with those inside it."""
    element = elements[number]
    inside = "".join(_without_words(elements, k) for k, other in enumerate(elements) if other.parent == number)
    return element.tag if element.single else f"{element.tag}{inside}</{element.name}>"
