"""The report as Markdown: tables with pipes, pictures in files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperbaton.report.elements import (
    NOTHING,
    CaptionedFigure,
    Cell,
    Element,
    Listing,
    Paragraph,
    Points,
    Section,
    SentenceBrowser,
    SystemComparison,
    Table,
)
from hyperbaton.report.sentences import segments_of


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The whole report; pictures are in `figures/`."""
    parts = [f"# {_plain(title)}"]
    for section in sections:
        parts.append(f"## {_plain(section.title)}")
        for element in section.elements:
            parts += _element(element)
    return "\n\n".join(parts) + "\n"


def _element(element: Element) -> Iterator[str]:
    match element:
        case Paragraph():
            yield _plain(element.text)
        case Points():
            yield "\n".join(f"- {_plain(point)}" for point in element.points)
        case Table():
            yield f"**{_plain(element.caption)}**"
            yield _table(element)
            if element.note:
                yield f"*{_plain(element.note)}*"
        case CaptionedFigure():
            yield f"![{_plain(element.caption)}](figures/{element.name}.svg)"
            if element.reading:
                yield _plain(element.reading)
        case Listing():
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", element.text))])
            yield f"{_plain(element.title)}:"
            yield f"{fence}\n{element.text}\n{fence}"
        case SystemComparison():
            pass  # the tables contain these numbers
        case SentenceBrowser():
            yield from map(_sentence, element.sentences)


def _table(table: Table) -> str:
    columns = range(len(table.columns))
    lines = [
        _line([_plain(column.title) for column in table.columns]),
        _line(["--:" if table.numeric(k) else "---" for k in columns]),
    ]
    for group in table.groups:
        if group.title:
            lines.append(_line([f"*{_plain(group.title)}*", *[""] * (len(table.columns) - 1)]))
        lines += [_line(map(_cell, row)) for row in group.rows]
    return "\n".join(lines)


def _line(cells: Sequence[str] | Iterator[str] | map[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return _plain(cell) if cell is not None else NOTHING
    text = f"**{cell.text}**" if cell.best else cell.text
    return f"{text}{cell.marks} {cell.spread_text}" if cell.spread is not None else f"{text}{cell.marks}"


def _sentence(sentence: dict[str, object]) -> str:
    words = [str(word) for word in sentence["source"]]  # type: ignore[attr-defined]
    reference = " ".join(map(str, sentence.get("reference") or []))  # type: ignore[call-overload]
    lines = [f"### Sentence {_plain(str(sentence.get('id', '')))}", "", f"- source: {_plain(' '.join(words))}"]
    lines += [f"- reference: {_plain(reference)}"] if reference else []
    for hypothesis in sentence.get("hypotheses") or []:  # type: ignore[attr-defined]
        phrases = (
            f"[{segment.begin + 1}–{segment.end}: {segment.target or '∅'}]"
            for segment in segments_of(hypothesis, len(words))
        )
        lines.append(f"- {_plain(str(hypothesis.get('system', '')))}: {_plain(' '.join(phrases))}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Escape all special characters of Markdown and HTML.

    >>> _plain("a|b <c> *d* & e_f")
    'a\\\\|b &lt;c&gt; \\\\*d\\\\* &amp; e\\\\_f'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)
