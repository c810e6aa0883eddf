"""The structure of text with tags: which tags stay in place, and which move with the words around them.

A text is split into fixed strings, which are copied, and *flows*: sentences with the tags inside them.

    <doc><t>Das <b>Haus</b></t><t>Ja.</t></doc>        fixed <doc><t>, flow Das <b>Haus</b>, fixed </t><t>, flow Ja., …

The tag of a splitting element is fixed. In HTML these are paragraphs, lists, tables and the like. In XML nothing is known
about names: an element splits unless there is text next to it, as in DeepL's outline detection. An element that contains a
splitting one also splits, so both tags of an element are fixed, or both are in the same flow. Content that must not be
translated is copied: between words it is itself a word.

All of this is linear in the length of the text. Excess tags in one flow, or very deep ones, are also fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import NamedTuple

from hyperbaton.align.tags import OPAQUE, VOID, Mark, pair, scan
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.placeholders import TAG, MaskedText, mask

_BLOCK_NAMES = """address article aside blockquote body br caption dd div dl dt fieldset figcaption figure footer form h1 h2
h3 h4 h5 h6 head header hr html li link main meta nav ol option p pre section select table tbody td tfoot th thead title tr
ul"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
# Elements of HTML whose end tag may be missing: the next one of the same name ends them.
_OPTIONAL_END = frozenset(["dd", "dt", "li", "option", "p", "td", "th", "tr"])
_MOST_TAGS, _DEEPEST = 1000, 20  # in one flow
_TEXT, _START, _END, _ALONE, _COPIED = "text", "start", "end", "alone", "copied"
_NOT_TRANSLATED = re.compile(
    r"""\s(?i:translate\s*=\s*(?:"no"|'no'|no(?=[\s/>]))|class\s*=\s*(?:"(?:[^"]*\s)?notranslate(?:\s[^"]*)?"|"""
    r"""'(?:[^']*\s)?notranslate(?:\s[^']*)?'|notranslate(?=[\s/>])))"""
)
_REFERENCE = re.compile(r"&#?\w+;")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_MASKED = re.compile(" ([\ue000-\uf8ff]) ")
# Marks the edges of masked text, where blanks are not part of the text. It is a control character that no text
# contains.
EDGE = "\x1f"
# Private characters; `corpus/sentences.py` recognises those of end tags.
_FOR_TAGS, _FOR_VALUES, _FOR_END_TAGS = range(0xE000, 0xE800), range(0xE800, 0xF000), range(0xF000, 0xF900)
_FIRST_COPY = 0x100000  # private characters of words that stand for copied content
_COPIES = re.compile("[\U00100000-\U0010ffff]+")
# Precedes the ends of lines that are kept; also a control character.
KEPT_LINE = "\x1e"
_LINE_END = re.compile("\r\n|\n|\r")
_PREFORMATTED = frozenset(["pre", "textarea"])  # elements of HTML whose line ends are part of their text


@dataclass(frozen=True)
class TextFormat:
    """The format of raw text: its tags, and where sentences end.

    Arguments:
        splitting: names of elements that end sentences.
        non_splitting: names of elements that never do.
        ignored: names of elements that are not translated.
        detect: split at every element that has no text next to it.
        html: names are those of HTML, in any case; some elements have no end tag, and scripts contain none.
        escapes: resolve character references, and write them.
        strict: refuse tags without a partner.
        newlines: end a sentence at the end of a line.
        sentences: split flows into sentences; otherwise a flow is one sentence, or with `newlines` each of its lines is.
    """

    splitting: frozenset[str] = frozenset()
    non_splitting: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    detect: bool = False
    html: bool = False
    escapes: bool = True
    strict: bool = False
    newlines: bool = True
    sentences: bool = True

    def key(self, name: str) -> str:
        """A name in the form used for comparison."""
        return name.lower() if self.html else name

    def scan(self, text: str) -> list[Mark]:
        if self.escapes:
            void, opaque = (VOID, OPAQUE) if self.html else (frozenset[str](), frozenset[str]())
            return list(scan(text, void=void, opaque=opaque))
        # Text without declared markup: simple tags, and nothing else.
        marks, at = [], 0
        for match in TAG.finditer(text):
            marks += [Mark("text", at, match.start())] if at < match.start() else []
            tag = next(scan(match[0]))
            marks.append(Mark(tag.kind, match.start(), match.end(), tag.name))
            at = match.end()
        return [*marks, Mark("text", at, len(text))] if at < len(text) else marks


PLAIN = TextFormat(html=True, escapes=False)
HTML = TextFormat(splitting=BLOCKS, html=True, newlines=False)
XML = TextFormat(detect=True)


class FlowItem(NamedTuple):
    """A part of a flow: text, start, end, alone (an unpaired tag, a comment) or copied.

    Start and end tags have the number of their element, everything else has -1. `lines` is true for text whose line ends
    are kept.
    """

    kind: str
    text: str
    element: int = -1
    lines: bool = False


Flow = list[FlowItem]


@dataclass
class _Element:
    """An element during splitting: its marks from `begin` to `end`, half-open."""

    begin: int
    end: int
    parent: int
    name: str
    partner: int | None
    ignored: bool
    has_text: bool = False
    is_cut: bool = False  # by an unpaired splitting tag
    splits: bool = False


def cut(text: str, form: TextFormat) -> list[str | Flow]:
    """Split a text into fixed strings and flows; joined, they give the text.

    >>> [part if isinstance(part, str) else [item.text for item in part] for part in cut("<t>Das <b>Haus</b>!</t>", XML)]
    ['<t>', ['Das ', '<b>', 'Haus', '</b>', '!'], '</t>']
    """
    if "<" not in text and "&" not in text:
        return [[FlowItem(_TEXT, text)] if text.strip() else text] if text else []
    marks = form.scan(text)
    partners = pair(marks, fold=form.html)
    if form.strict:
        _check_pairs(text, marks, partners)
    elements = _elements(text, marks, partners, form)
    _decide(elements, form)
    of_start = {element.begin: number for number, element in enumerate(elements)}
    parts: list[str | Flow] = []
    flow: Flow = []

    def close() -> None:
        parts.extend(_settled(flow))
        flow.clear()

    n = n_preformatted = 0  # marks before the end of a preformatted element
    while n < len(marks):
        mark = marks[n]
        start = n if mark.kind == "start" else partners[n] if mark.kind == "end" else None
        number = -1 if start is None else of_start[start]
        element = elements[number] if number >= 0 else None
        if form.html and element is not None and element.name in _PREFORMATTED:
            n_preformatted = max(n_preformatted, element.end)
        if element is not None and element.ignored:
            item = FlowItem(_COPIED, text[mark.begin : marks[element.end - 1].end])
            n = element.end
        else:
            kind = _TEXT if mark.kind == "text" else _ALONE
            if element is not None and element.partner is not None:
                kind = _START if mark.kind == "start" else _END
            item = FlowItem(kind, text[mark.begin : mark.end], number if kind in (_START, _END) else -1)
            n += 1
        splits = element.splits if element is not None else mark.name != "" and form.key(mark.name) in form.splitting
        if splits:
            close()
            parts.append(item.text)
        elif item.kind == _TEXT:
            flow += _texts(item.text, form, n <= n_preformatted)
        else:
            flow.append(item)
    close()
    return _joined(parts)


def _texts(text: str, form: TextFormat, lines: bool) -> Iterator[FlowItem]:
    """Text as items; in XML, a reference to an entity that is declared elsewhere is copied."""
    at = 0
    for match in _REFERENCE.finditer(text) if form.escapes and not form.html else ():
        if unescape(match[0]) == match[0]:
            yield FlowItem(_TEXT, text[at : match.start()])
            yield FlowItem(_COPIED, match[0])
            at = match.end()
    yield FlowItem(_TEXT, text[at:], lines=lines)


def _check_pairs(text: str, marks: Sequence[Mark], partners: Sequence[int | None]) -> None:
    for mark, partner in zip(marks, partners, strict=True):
        if mark.kind in ("start", "end") and partner is None:
            line = text.count("\n", 0, mark.begin) + 1
            raise InputError(
                f"the XML is not well-formed: {text[mark.begin : mark.end][:60]} in line {line} has no partner"
            )


def _elements(text: str, marks: Sequence[Mark], partners: list[int | None], form: TextFormat) -> list[_Element]:
    """The elements in the order of their start tags, after one for the whole text.

    Elements of HTML that end without an end tag lose their apparent partner.
    """
    elements = [_Element(-1, len(marks), -1, "", None, False)]
    opened = [0]
    for n, mark in enumerate(marks):
        partner = partners[n]
        if mark.kind == "text" and not elements[opened[-1]].ignored:
            elements[opened[-1]].has_text |= not text[mark.begin : mark.end].isspace()
        elif mark.kind == "start":
            key = form.key(mark.name)
            before = elements[opened[-1]]
            if key in _OPTIONAL_END and key in form.splitting and key == before.name:
                before.end = n
                if before.partner is not None:
                    partners[before.begin] = partners[before.partner] = None
                    before.partner = None
                opened.pop()
            is_kept = form.escapes and _NOT_TRANSLATED.search(text[mark.begin : mark.end]) is not None
            ignored = elements[opened[-1]].ignored or key in form.ignored or is_kept
            elements.append(_Element(n, len(marks), opened[-1], key, partner, ignored))
            opened.append(len(elements) - 1)
        elif mark.kind == "end" and partner is not None:
            while elements[opened[-1]].begin > partner:  # never closed
                elements[opened.pop()].end = n
            elements[opened.pop()].end = n + 1
        elif mark.kind in ("single", "end"):
            elements[opened[-1]].is_cut |= form.key(mark.name) in form.splitting
    return elements


def _decide(elements: list[_Element], form: TextFormat) -> None:
    """Find the elements that split."""
    for element in reversed(elements[1:]):
        if element.name in form.non_splitting and not element.ignored:
            elements[element.parent].has_text |= element.has_text
    elements[0].splits = True
    for element in elements[1:]:
        parent = elements[element.parent]
        element.splits = element.name in form.splitting or (form.detect and parent.splits and not parent.has_text)
        element.splits &= element.name not in form.non_splitting
    for element in reversed(elements[1:]):
        element.splits |= element.is_cut and not element.ignored
        if not elements[element.parent].ignored:
            elements[element.parent].splits |= element.splits


def _settled(flow: Flow) -> Iterator[str | Flow]:
    """A flow without the blanks, unpaired tags and enclosing elements around its text."""
    if all(item.kind != _TEXT or not unescape(item.text).strip() for item in flow):
        yield "".join(item.text for item in flow)
        return
    depth = deepest = 0
    for item in flow:
        depth += (item.kind == _START) - (item.kind == _END)
        deepest = max(deepest, depth)
    n_tags = sum(item.kind != _TEXT for item in flow)
    if n_tags > _MOST_TAGS or deepest > _DEEPEST:
        for item in flow:
            yield [item] if item.kind == _TEXT and unescape(item.text).strip() else item.text
        return

    def is_outside(item: FlowItem) -> bool:
        return item.kind == _ALONE or (item.kind == _TEXT and not item.text.strip())

    first, last = 0, len(flow) - 1
    while True:
        if is_outside(flow[first]):
            first += 1
        elif is_outside(flow[last]):
            last -= 1
        elif flow[first].kind == _START and flow[last].element == flow[first].element:
            first, last = first + 1, last - 1
        else:
            break
    yield "".join(item.text for item in flow[:first])
    yield flow[first : last + 1]
    yield "".join(item.text for item in flow[last + 1 :])


def _joined(parts: Sequence[str | Flow]) -> list[str | Flow]:
    """Merge adjacent fixed strings."""
    joined: list[str | Flow] = []
    fixed: list[str] = []
    for part in parts:
        if isinstance(part, str):
            fixed.append(part)
            continue
        joined += ["".join(fixed)] if any(fixed) else []
        fixed = []
        joined.append(part)
    return [*joined, "".join(fixed)] if any(fixed) else joined


@dataclass
class MaskedFlow(MaskedText):
    """A flow as text: each tag, number, address and copied element is a private character between two `EDGE`s.

    `tags` are the characters of tags, `paired` those of tags that have a partner; `copied` has the word for each copied
    element.
    """

    tags: set[str] = field(default_factory=set)
    paired: set[str] = field(default_factory=set)
    copied: dict[str, str] = field(default_factory=dict)


def mask_flow(flow: Flow, form: TextFormat) -> MaskedFlow:
    """Replace tags, and text that no tokenizer may change, by private characters."""
    masked = MaskedFlow("")
    # Words that stand for copied content are longer than any word of these characters in the text.
    texts = [item.text for item in flow if item.kind == _TEXT] if any(item.kind == _COPIED for item in flow) else []
    length = 1 + max((len(run) for text in texts for run in _COPIES.findall(unescape(text))), default=0)
    for_tags, for_values, for_end_tags = iter(_FOR_TAGS), iter(_FOR_VALUES), iter(_FOR_END_TAGS)

    def put(match: re.Match[str]) -> str:
        number = next(for_values, None)
        if number is None:  # after thousands of values: the rest is ordinary text
            return inner.texts[match[1]]
        masked.texts[chr(number)] = inner.texts[match[1]]
        return f"{EDGE}{chr(number)}{EDGE}"

    pieces: list[str] = []
    for kind, text, _, lines in flow:
        if kind == _TEXT:
            plain = _REFERENCE.sub(lambda found: without_control(unescape(found[0])), text) if form.escapes else text
            plain = _LINE_END.sub(rf"{KEPT_LINE}\g<0>", plain) if lines and not form.newlines else plain
            inner = mask(plain)
            pieces.append(_MASKED.sub(put, inner.text))
            continue
        # A flow has fewer tags than there are private characters.
        char = chr(next(for_end_tags if kind != _COPIED and text.startswith("</") else for_tags))
        masked.texts[char] = text
        if kind == _COPIED:
            masked.copied[char] = chr(_FIRST_COPY + len(masked.copied)) * length
        else:
            masked.tags.add(char)
        if kind in (_START, _END):
            masked.paired.add(char)
        pieces.append(f"{EDGE}{char}{EDGE}")
    masked.text = "".join(pieces)
    return masked


def without_control(text: str) -> str:
    """The text with control characters replaced by blanks, except for tabs and line ends."""
    return _CONTROL.sub(" ", text)
