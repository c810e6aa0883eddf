"""Tags of raw text: removed from its tokens before the search, and projected into the translation through its links.

The content of a tag is projected by `align.project_markup`. Tags may enclose several sentences: they are closed at the end
of each and opened again, unless the translations leave the tag open from one sentence to the next. An unpaired tag stays in
place; a tag around words without links encloses nothing, but is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from hyperbaton.align.inline_markup import Element, MarkedSentence, project_markup
from hyperbaton.align.tags import scan
from hyperbaton.decode.raw.structure import MaskedFlow


class TaggedWords(NamedTuple):
    """The words of a sentence with their labels, and the elements formed by its tags.

    The first `reopened` elements continue those of the previous sentence.
    """

    words: list[str]
    labels: list[str]
    elements: list[Element]
    reopened: int


class TagReader:
    """Reads the sentences of one flow, in order."""

    def __init__(self, masked: MaskedFlow) -> None:
        self._masked = masked
        self._opened: list[str] = []  # tags that are open at the start of the next sentence
        self._written: set[str] = set()  # tags that enclosed words of a sentence

    def read(self, tokens: Sequence[str], labels: Sequence[str]) -> TaggedWords:
        """Remove the tags from the tokens of a sentence."""
        words: list[str] = []
        own_labels: list[str] = []
        elements: list[Element] = []
        opened: list[int] = []
        chars: list[str] = []  # private characters of the elements' tags

        def add(char: str, single: bool) -> None:
            tag = self._masked.texts[char]
            chars.append(char)
            parent = opened[-1] if opened else -1
            elements.append(Element(tag, next(scan(tag)).name, len(words), len(words), single, parent))
            if not single:
                opened.append(len(elements) - 1)

        for char in self._opened:
            add(char, single=False)
        for token, label in zip(tokens, labels, strict=True):
            if token not in self._masked.tags:
                words.append(token)
                own_labels.append(label)
            elif token not in self._masked.paired:
                add(token, single=True)
            elif self._masked.texts[token].startswith("</"):
                number = opened.pop()
                elements[number] = replace(elements[number], end=len(words))
                self._opened.pop()
            else:
                add(token, single=False)
                self._opened.append(token)
        for number in opened:
            elements[number] = replace(elements[number], end=len(words))
        # A tag that encloses words of another sentence, or may do so in the next one, may be left out here if empty.
        nothing = {k for k, element in enumerate(elements) if element.begin == element.end and not element.single}
        dropped = {k for k in nothing if k in opened or chars[k] in self._written}
        reopened = sum(k not in dropped and char in self._written for k, char in enumerate(chars))
        self._written |= {char for k, char in enumerate(chars) if k not in dropped}
        return TaggedWords(words, own_labels, _without(elements, dropped), reopened)


def cut_elements(elements: Sequence[Element], begin: int, end: int, *, last: bool) -> list[Element]:
    """The elements of the words [begin, end) of a sentence; `last` if it ends there."""

    def is_here(element: Element) -> bool:
        if element.begin == element.end:
            return begin <= element.begin < end or (last and element.begin == end)
        return element.begin < end and begin < element.end

    cut = [
        replace(e, begin=max(e.begin, begin) - begin, end=min(e.end, end) - begin) if is_here(e) else e for e in elements
    ]
    return _without(cut, {k for k, element in enumerate(elements) if not is_here(element)})


def write_tags(
    words: Sequence[str],
    elements: Sequence[Element],
    target: Sequence[str],
    links: Sequence[tuple[int, int]],
    blanks: Sequence[str],
) -> str:
    """A translation with the tags of its source; `blanks` precede its words."""
    if not elements:
        return "".join(chain.from_iterable(zip(blanks, target, strict=True)))
    kept = list(elements)
    while True:
        projection = project_markup(MarkedSentence(list(words), kept), target, links, split="cover", spaces=blanks)
        lost = {(c.label, c.source) for c in projection.conflicts if c.kind == "lost"}
        if not lost:
            return projection.text
        for k, element in enumerate(kept):
            # Elements inside an element that has become empty become empty in the same place.
            outside = kept[element.parent] if element.parent >= 0 else None
            if outside is not None and outside.begin == outside.end:
                kept[k] = replace(element, begin=outside.begin, end=outside.begin)
            elif (element.name, (element.begin, element.end)) in lost:
                kept[k] = replace(element, end=element.begin)


def join_tags(before: str, line: str, elements: Sequence[Element], before_elements: Sequence[Element]) -> tuple[str, str]:
    """Leave elements open from one sentence to the next: the two texts without the tags between them.

    Arguments:
        elements: those of the second sentence that continue elements of the first, which are among its `before_elements`.

    >>> bold = Element("<b>", "b", 0, 1, single=False, parent=-1)
    >>> join_tags("The <b>house.</b>", "<b>Yes?</b>", [bold], [bold])
    ('The <b>house.', 'Yes?</b>')
    """
    for element in elements:
        end = f"</{element.name}>"
        is_alone = sum(other.name == element.name for other in before_elements) == 1
        if not (is_alone and before.endswith(end) and line.startswith(element.tag)):
            break
        before, line = before.removesuffix(end), line.removeprefix(element.tag)
    return before, line


def _without(elements: Sequence[Element], dropped: set[int]) -> list[Element]:
    """Remove some elements; their children belong to the next outer element."""
    numbers: dict[int, int] = {-1: -1}
    kept: list[Element] = []
    for k, element in enumerate(elements):
        if k in dropped:
            numbers[k] = numbers[element.parent]
        else:
            numbers[k] = len(kept)
            kept.append(replace(element, parent=numbers[element.parent]))
    return kept
