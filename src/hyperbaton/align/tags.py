"""Scanning of tags in text, and pairing of start and end tags.

Both functions take time proportional to the length of any text: the ends of quotes, comments and elements that never end
are searched for once.

>>> [(mark.kind, mark.name) for mark in scan("a <b>c</b><br/> 3 < 4 <!-- d -->")]
[('text', ''), ('start', 'b'), ('text', ''), ('end', 'b'), ('single', 'br'), ('text', ''), ('other', '')]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Elements of HTML that have no end tag.
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
# Elements of HTML whose content is not markup.
OPAQUE = frozenset(["script", "style"])

_MARK = re.compile(
    r"<!--|<!\[CDATA\[|<\?|<!(?=[A-Za-z])"
    r"|<(?P<close>/?)(?P<name>[^\W\d][\w:.-]*+)(?=[\s/>])(?P<rest>(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)>"
)
_ENDS = {
    "<!--": re.compile("-->"),
    "<![CDATA[": re.compile(r"\]\]>"),
    "<?": re.compile(r"\?>"),
}
_DECLARATION = re.compile(r"(?:[^<>\[\]]++|\[[^\]]*+\])*+>")


class Mark(NamedTuple):
    """A part of a text from `begin` to `end`: text, start, end, single (an element without an end tag) or other."""

    kind: str
    begin: int
    end: int
    name: str = ""


def scan(text: str, *, void: frozenset[str] = VOID, opaque: frozenset[str] = frozenset()) -> Iterator[Mark]:
    """Cut a text into text, tags, and other markup: comments, declarations, instructions, CDATA.

    Any other `<` is text.

    Arguments:
        void: names, in lower case, of elements that have no end tag.
        opaque: names of elements that are kept whole, as other markup, since their content is not markup.
    """
    done = at = 0
    endless: set[str] = set()  # kinds of markup without an end after this position
    while match := _MARK.search(text, at):
        at = match.end()
        kind, name = "other", match["name"] or ""
        if not name:
            if match[0] == "<!":
                end = _DECLARATION.match(text, at)
            else:
                end = None if match[0] in endless else _ENDS[match[0]].search(text, at)
                endless |= {match[0]} if end is None else set()
            if end is None:
                continue
            at = end.end()
        elif match["close"]:
            kind = "end"
        elif match["rest"].endswith("/") or name.lower() in void:
            kind = "single"
        else:
            kind, low = "start", name.lower()
            if low in opaque and low not in endless:
                closed = re.compile(rf"</{re.escape(low)}\s*+>", re.IGNORECASE).search(text, at)
                if closed is None:
                    endless.add(low)
                else:
                    kind, at = "other", closed.end()
        if done < match.start():
            yield Mark("text", done, match.start())
        yield Mark(kind, match.start(), at, name)
        done = at
    if done < len(text):
        yield Mark("text", done, len(text))


def pair(marks: Sequence[Mark], *, fold: bool = True) -> list[int | None]:
    """The partner of each start and end tag, None if a mark has none; `fold` ignores case.

    An end tag closes the nearest start tag of its name; tags between the two have no partner.

    >>> pair(list(scan("<b><br><i></b></i>")))
    [3, None, None, 0, None]
    """
    partners: list[int | None] = [None] * len(marks)
    opened: list[int] = []
    names = [mark.name.lower() if fold else mark.name for mark in marks]
    n_open: Counter[str] = Counter()
    for n, mark in enumerate(marks):
        if mark.kind == "start":
            opened.append(n)
            n_open[names[n]] += 1
        elif mark.kind == "end" and n_open[names[n]]:
            while partners[n] is None:
                inner = opened.pop()
                n_open[names[inner]] -= 1
                if names[inner] == names[n]:
                    partners[n], partners[inner] = inner, n
    return partners
