"""Tags of raw text: taken out of its tokens before the search, and put into the translation through its links.

What a tag encloses is carried over by `align.project_markup`. Tags may enclose several sentences: they are closed at the
end of each and opened again. A tag without its partner stays alone where it is, and one around words without links
encloses nothing, but is still there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hyperbaton.align.inline_markup import VOID, Element, MarkedSentence, project_markup
from hyperbaton.corpus.placeholders import Masked

_NAME = re.compile(r"</?([\w:.-]+)")


def name_of(tag: str) -> str:
    """The name of a tag.

    >>> name_of("</b>"), name_of('<a href="x">')
    ('b', 'a')
    """
    match = _NAME.match(tag)
    return match[1] if match else ""


def pair_tags(tags: Sequence[str]) -> list[int | None]:
    """The partner of each tag of a paragraph; None where a tag is alone.

    >>> pair_tags(["<b>", "<br>", "<i>", "</b>", "</i>"])
    [3, None, None, 0, None]
    """
    partners: list[int | None] = [None] * len(tags)
    opened: list[int] = []
    for n, tag in enumerate(tags):
        name = name_of(tag).lower()
        if not tag.startswith("</"):
            if not tag.endswith("/>") and name not in VOID:
                opened.append(n)
            continue
        same = [k for k in opened if name_of(tags[k]).lower() == name]
        if same:
            partners[n], partners[same[-1]] = same[-1], n
            del opened[opened.index(same[-1]) :]  # those opened inside are never closed inside
    return partners


class TagReader:
    """Reads the sentences of one paragraph, in order."""

    def __init__(self, masked: Masked) -> None:
        self._masked = masked
        tags = [char for char in masked.text if char in masked.tags]
        partners = pair_tags([masked.texts[char] for char in tags])
        self._paired = {char for char, partner in zip(tags, partners, strict=True) if partner is not None}
        self._opened: list[str] = []  # tags that are open where the next sentence starts
        self._written: set[str] = set()  # tags that enclosed words of a sentence

    def read(self, tokens: Sequence[str], labels: Sequence[str]) -> tuple[list[str], list[str], list[Element]]:
        """The words of a sentence with their labels, and the elements that its tags make."""
        words: list[str] = []
        own_labels: list[str] = []
        elements: list[Element] = []
        opened: list[int] = []
        chars: list[str] = []  # that stand for the tags of the elements

        def add(char: str, single: bool) -> None:
            tag = self._masked.texts[char]
            chars.append(char)
            parent = opened[-1] if opened else -1
            elements.append(Element(tag, name_of(tag), len(words), len(words), single, parent))
            if not single:
                opened.append(len(elements) - 1)

        for char in self._opened:
            add(char, single=False)
        for token, label in zip(tokens, labels, strict=True):
            if token not in self._masked.tags:
                words.append(token)
                own_labels.append(label)
            elif token not in self._paired:
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
        # What encloses words of another sentence, or may do so in the next one, need not enclose nothing here.
        nothing = {k for k, element in enumerate(elements) if element.begin == element.end and not element.single}
        dropped = {k for k in nothing if k in opened or chars[k] in self._written}
        self._written |= {char for k, char in enumerate(chars) if k not in dropped}
        return words, own_labels, _without(elements, dropped)


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
    """A translation with the tags of its source; `blanks` stand before its words."""
    kept = list(elements)
    while True:
        found = project_markup(MarkedSentence(list(words), kept), target, links, split="cover", spaces=blanks)
        lost = {(c.label, c.source) for c in found.conflicts if c.kind == "lost"}
        if not lost:
            return found.text
        for k, element in enumerate(kept):
            # What was inside an element that encloses nothing any more encloses nothing in the same place.
            outside = kept[element.parent] if element.parent >= 0 else None
            if outside is not None and outside.begin == outside.end:
                kept[k] = replace(element, begin=outside.begin, end=outside.begin)
            elif (element.name, (element.begin, element.end)) in lost:
                kept[k] = replace(element, end=element.begin)


def _without(elements: Sequence[Element], dropped: set[int]) -> list[Element]:
    """Elements without some; what is inside these belongs to the next one outside."""
    numbers: dict[int, int] = {-1: -1}
    kept: list[Element] = []
    for k, element in enumerate(elements):
        if k in dropped:
            numbers[k] = numbers[element.parent]
        else:
            numbers[k] = len(kept)
            kept.append(replace(element, parent=numbers[element.parent]))
    return kept
