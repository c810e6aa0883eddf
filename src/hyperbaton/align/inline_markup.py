"""Projection of inline markup, such as HTML or XML tags, from a sentence into its translation.

    das <b>kleine <i>Haus</i></b> brennt        the <b>little <i>house</i></b> is burning

A target word gets the elements that enclose the source word it is linked to. If several source words are in different
elements, the enclosing elements that most of them share win; ties go to those of the first source word (`ambiguous`). A
word without a link gets those elements that enclose both its nearest linked neighbours; beyond the first and the last
linked word, those that enclose the whole source sentence.

An element whose words are not adjacent in the target (`split`) is repeated, or kept where most of its words are
(`largest`), or extended over the words between (`cover`). An element without linked words is left out (`lost`). Elements
that would cross in the target are closed and opened again, so that the result is well-formed (`crossing`). A tag inside a
word moves to the edge of the word (`inside`); tags of elements without words (`<br/>`, `<img …>`) separate words. Such an
element is put before the translation of the word that follows it or, if that word has none, after that of the word before
it; at the edge of a sentence it stays there.

Names and attributes are copied unchanged; the only known property of names is which HTML elements are void.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain

from hyperbaton.align.projection import Conflict, Points, check_points, check_split
from hyperbaton.align.tags import Mark, scan
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.raw import locate
from hyperbaton.corpus.tokenizers import Tokenizer


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


@dataclass
class MarkedTranslation:
    """The translation with its tags, and the conflicts."""

    text: str
    conflicts: list[Conflict]


def parse_inline(line: str, tokenizer: Tokenizer | None = None) -> MarkedSentence:
    """Separate tags from words, or from raw text that is then tokenized; a `<` that does not start a tag is text.

    >>> sentence = parse_inline('das <b class="x">kleine Haus</b> <br/> brennt')
    >>> sentence.words, [(e.name, e.begin, e.end) for e in sentence.elements]
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
    words = [match[0] for match in re.finditer(r"[^ ]+", text)] if tokenizer is None else tokenizer(text)[0]
    spans = locate(text, words)
    begins = [begin for begin, _ in spans]
    sentence = MarkedSentence(words, [])
    opened: list[int] = []
    for place, mark in marks:
        if mark.kind == "other":
            continue  # a comment
        tag = line[mark.begin : mark.end]
        before = bisect_left(begins, place)  # words that begin before the tag
        inside = before > 0 and place < spans[before - 1][1]
        if inside:
            sentence.conflicts.append(Conflict("inside", mark.name, (before - 1, before)))
        if mark.kind != "end":
            word = before - inside
            single = mark.kind == "single"
            sentence.elements.append(Element(tag, mark.name, word, word, single, opened[-1] if opened else -1))
            if not single:
                opened.append(len(sentence.elements) - 1)
            continue
        if not opened or sentence.elements[opened[-1]].name != mark.name:
            expected = f"</{sentence.elements[opened[-1]].name}>" if opened else "no end tag"
            raise InputError(f"{tag} where {expected} is expected")
        number = opened.pop()
        sentence.elements[number] = replace(sentence.elements[number], end=before)
    if opened:
        raise InputError(f"{sentence.elements[opened[-1]].tag} is not closed")
    return sentence


def project_markup(
    source: str | MarkedSentence,
    target: str | Sequence[str],
    links: Points,
    *,
    split: str = "repeat",
    spaces: Sequence[str] | None = None,
) -> MarkedTranslation:
    """Project the markup of a source sentence into its translation.

    Arguments:
        source: with tags, tokens separated by spaces; tags may touch words or be separate.
        target: without tags, its tokens as a sequence or separated by spaces.
        links: (source word, target word), counted without the tags.
        split: how to treat an element whose words are not adjacent: repeat, largest or cover.
        spaces: the text before each target token, for output that is not tokenized.

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
    runs = _target_runs(sentence, links, len(words), conflicts)
    _settle_splits(sentence.elements, runs, split, conflicts)
    text = "".join(_render(sentence.elements, words, runs, _placed(sentence, links, len(words)), spaces, conflicts))
    return MarkedTranslation(text, conflicts)


class _Stacks:
    """The elements around each word of a sentence, from the outside in, as paths to the root of a tree of stacks.

    A stack is a number, equal for equal stacks, so that words do not store the elements around them. Tags inside a word
    make elements overlap there: those still open when an outer one ends form another stack.
    """

    def __init__(self, sentence: MarkedSentence) -> None:
        self._tops: list[int] = []  # the innermost element of each stack
        self._outer: list[int] = []  # the stack without it; -1 is the empty one
        self._depths: list[int] = []
        self.of_words: list[int] = []
        beginning: list[list[int]] = [[] for _ in range(len(sentence.words) + 1)]
        ending: list[list[int]] = [[] for _ in range(len(sentence.words) + 1)]
        for k, element in enumerate(sentence.elements):
            if element.begin < element.end:
                beginning[element.begin].append(k)
                ending[element.end].append(k)
        stack = -1
        for at in range(len(sentence.words)):
            gone, above = set(ending[at]), []
            while gone:
                top, stack = self._tops[stack], self._outer[stack]
                if top in gone:
                    gone.remove(top)
                else:
                    above.append(top)
            for k in (*reversed(above), *beginning[at]):
                self._tops.append(k)
                self._depths.append(self._depth(stack) + 1)
                self._outer.append(stack)
                stack = len(self._tops) - 1
            self.of_words.append(stack)

    def _depth(self, stack: int) -> int:
        return self._depths[stack] if stack >= 0 else 0

    def difference(self, left: int, right: int) -> tuple[list[int], list[int]]:
        """The elements that are only in the left and only in the right of two stacks, each from the outside in."""
        only_left: list[int] = []
        only_right: list[int] = []
        while left != right:
            if self._depth(left) >= self._depth(right):
                only_left.append(self._tops[left])
                left = self._outer[left]
            else:
                only_right.append(self._tops[right])
                right = self._outer[right]
        both = set(only_left).intersection(only_right)
        return [k for k in reversed(only_left) if k not in both], [k for k in reversed(only_right) if k not in both]


def _target_runs(
    sentence: MarkedSentence, links: Points, n_target: int, conflicts: list[Conflict]
) -> list[list[tuple[int, int]]]:
    """The target words of each element, as half-open runs."""
    elements, stacks = sentence.elements, _Stacks(sentence)
    partners: list[list[int]] = [[] for _ in range(n_target)]
    for i, j in sorted(links):
        partners[j].append(i)
    whole = {k for k, e in enumerate(elements) if e.begin == 0 < e.end == len(sentence.words)}
    runs: list[list[tuple[int, int]]] = [[] for _ in elements]
    begins = [0] * len(elements)

    def change(ending: Iterable[int], end: int, beginning: Iterable[int], begin: int) -> None:
        for k in ending:
            runs[k].append((begins[k], end))
        for k in beginning:
            begins[k] = begin

    last, end = -1, 0  # the stack of the last linked word, and the position after it
    for j, positions in enumerate(partners):
        if not positions:
            continue
        counts = Counter(stacks.of_words[i] for i in positions)  # in the order of the source words, which settles ties
        stack = max(counts, key=counts.__getitem__)
        if len(counts) > 1:
            names = " ".join(elements[k].name for k in stacks.difference(-1, stack)[1])
            conflicts.append(Conflict("ambiguous", names, (positions[0], positions[-1] + 1), (j, j + 1)))
        ending, beginning = stacks.difference(last, stack)
        change(ending, end, beginning if end else (k for k in beginning if k not in whole), j)
        last, end = stack, j + 1
    change((k for k in stacks.difference(last, -1)[0] if k not in whole), end, (), n_target)
    if n_target:
        change(whole, n_target, (), n_target)
    return runs


def _settle_splits(
    elements: Sequence[Element], runs: list[list[tuple[int, int]]], split: str, conflicts: list[Conflict]
) -> None:
    """Find lost and split elements, and apply the rule for split ones."""
    for k, element in enumerate(elements):
        span = (element.begin, element.end)
        if not runs[k] and element.begin < element.end:
            conflicts.append(Conflict("lost", element.name, span))
        elif len(runs[k]) > 1:
            cover = (runs[k][0][0], runs[k][-1][1])
            conflicts.append(Conflict("split", element.name, span, cover))
            if split == "largest":
                runs[k] = [max(runs[k], key=lambda run: run[1] - run[0])]
            elif split == "cover":
                runs[k] = [cover]


def _placed(sentence: MarkedSentence, links: Points, n_target: int) -> list[dict[int, list[int]]]:
    """The elements without words before each target word, and at the end, by the element around them."""
    n_source = len(sentence.words)
    firsts, lasts = [n_target] * (n_source + 1), [-1] * n_source  # target words linked to each source word
    for i, j in links:
        firsts[i], lasts[i] = min(firsts[i], j), max(lasts[i], j)
    later = list(accumulate(reversed(firsts), min))[::-1]  # the first target word linked to this source word or a later one
    placed: list[dict[int, list[int]]] = [{} for _ in range(n_target + 1)]
    for k, element in enumerate(sentence.elements):
        parent = sentence.elements[element.parent] if element.parent >= 0 else None
        if element.begin != element.end or (parent is not None and parent.begin == parent.end):
            continue  # elements inside an element without words move with it
        at = element.begin
        if at == 0 or at == n_source:
            place = 0 if at == 0 else n_target
        elif firsts[at] == n_target and lasts[at - 1] >= 0:
            place = lasts[at - 1] + 1
        else:
            place = firsts[at] if firsts[at] < n_target else later[at]
        placed[place].setdefault(element.parent, []).append(k)
    return placed


def _render(
    elements: Sequence[Element],
    words: Sequence[str],
    runs: Sequence[Sequence[tuple[int, int]]],
    placed: Sequence[dict[int, list[int]]],
    spaces: Sequence[str] | None,
    conflicts: list[Conflict],
) -> Iterator[str]:
    """The pieces of the translation; elements are closed and opened where the elements of words change."""
    beginning: list[list[int]] = [[] for _ in range(len(words) + 1)]
    ending: list[list[int]] = [[] for _ in range(len(words) + 1)]
    for k, spans in enumerate(runs):
        for begin, end in spans:
            beginning[begin].append(k)
            ending[end].append(k)
    opened: list[int] = []  # in the order of their numbers: parents have smaller numbers than children
    for j in range(len(words) + 1):
        same = min((bisect_left(opened, k) for k in (*ending[j][:1], *beginning[j][:1])), default=len(opened))
        closing, gone = opened[same:], set(ending[j])
        crossing = [k for k in closing if k not in gone]
        for k in crossing:
            conflicts.append(Conflict("crossing", elements[k].name, (elements[k].begin, elements[k].end), (j, j + 1)))
        opening = sorted([*crossing, *beginning[j]])
        # An element without words stays inside its parent, if that is open before or after this position.
        for parent in reversed(closing):
            if parent in gone:
                yield from _without_words(elements, placed[j].pop(parent, ()))
            yield f"</{elements[parent].name}>"
        first_inside = [placed[j].pop(parent, ()) for parent in opening]
        if j < len(words):
            yield (" " if j else "") if spaces is None else spaces[j]
        yield from _without_words(elements, sorted(chain.from_iterable(placed[j].values())))
        for parent, inside in zip(opening, first_inside, strict=True):
            yield elements[parent].tag
            yield from _without_words(elements, inside)
        yield from words[j : j + 1]
        opened[same:] = opening


def _without_words(elements: Sequence[Element], numbers: Iterable[int]) -> Iterator[str]:
    """The pieces of elements without words, each with those inside it, which follow it."""
    for number in numbers:
        opened = [number]
        yield elements[number].tag
        for k in range(number + 1, len(elements)):
            while opened and elements[k].parent != opened[-1]:
                yield _end_tag(elements[opened.pop()])
            if not opened:
                break
            yield elements[k].tag
            opened.append(k)
        for k in reversed(opened):
            yield _end_tag(elements[k])


def _end_tag(element: Element) -> str:
    return "" if element.single else f"</{element.name}>"
