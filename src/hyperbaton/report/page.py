"""The report as one self-contained HTML page, with styles, script and pictures inside.

Pictures take their colours from the page's variables, so that they suit dark screens. Everything is readable without
scripts; the script only pages through the sentences, compares two systems, and shows scores on devices without a mouse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import groupby
from types import MappingProxyType

from hyperbaton.base.forms import Json
from hyperbaton.report.elements import (
    NOTHING,
    CaptionedFigure,
    Cell,
    Element,
    Listing,
    Number,
    Paragraph,
    Points,
    Section,
    SentenceBrowser,
    SystemComparison,
    Table,
    in_digits,
    is_number,
    number,
)
from hyperbaton.report.figures import BACK, DARK, FAINT, FORWARD, INK, MONOTONE, PAPER, figure_csv
from hyperbaton.report.sentences import draw_translation, segments_of
from hyperbaton.report.translation_sections import limit_of, limit_text

_MANY_COLUMNS = 12  # tables with this many columns are set narrower


def as_page(title: str, sections: Sequence[Section], svgs: Mapping[str, str]) -> str:
    """The whole page; `svgs` are the pictures by name."""
    body = _Body(svgs)
    inner = "\n".join(body.section(section) for section in sections)
    links = "".join(f'<li><a href="#{section.id}">{escape(section.title)}</a></li>' for section in sections)
    return whole_page(
        title,
        "page",
        f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n'
        f'<main>\n<header><p class="kind">hyperbaton report</p><h1>{escape(title)}</h1></header>\n{inner}\n</main>\n',
    )


def whole_page(title: str, look: str, body: str) -> str:
    """A page with this body and, inside it, the style and script of that name."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_colours()}{_file(f'{look}.css')}</style>\n</head>\n<body>\n"
        f"{body}<script>\n{_file(f'{look}.js')}</script>\n</body>\n</html>\n"
    )


def _file(name: str) -> str:
    return resources.files("hyperbaton.report").joinpath(name).read_text(encoding="utf-8")


def _variable(colour: str) -> str:
    return f"--c{colour[1:]}"


def _colours() -> str:
    """The colour variables, for light and for dark screens."""
    light = "".join(f"{_variable(colour)}:{colour};" for colour in DARK)
    dark = "".join(f"{_variable(colour)}:{other};" for colour, other in DARK.items())
    named = {"ink": INK, "paper": PAPER, "faint": FAINT, "forward": FORWARD, "monotone": MONOTONE, "back": BACK}
    names = "".join(f"--{name}:var({_variable(colour)});" for name, colour in named.items())
    return f":root{{{light}{names}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def inline_svg(svg: str, prefix: str) -> str:
    """A picture for embedding in a page: no prologue, unique ids, the page's colours.

    >>> inline_svg('<?xml?><svg xmlns="x"><metadata>m</metadata><path id="p1" style="fill: #22272e"/></svg>', "a-")
    '<svg><path id="a-p1" style="fill: var(--c22272e)"/></svg>'
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>(?:(?!<metadata>).)*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", svg)
    return re.sub("#[0-9a-f]{6}", lambda m: f"var({_variable(m[0])})" if m[0] in DARK else m[0], svg)


class _Body:
    """Writes sections; tables and figures are numbered in order."""

    def __init__(self, svgs: Mapping[str, str]) -> None:
        self.svgs = svgs
        self.n_tables = self.n_figures = 0

    def section(self, section: Section) -> str:
        elements = []
        for pictures, run in groupby(section.elements, key=lambda element: isinstance(element, CaptionedFigure)):
            inner = "\n".join(map(self.element, run))
            elements.append(f'<div class="pictures">\n{inner}\n</div>' if pictures else inner)
        return f'<section id="{section.id}">\n<h2>{escape(section.title)}</h2>\n' + "\n".join(elements) + "\n</section>"

    def element(self, element: Element) -> str:
        match element:
            case Paragraph():
                return f"<p>{escape(element.text)}</p>"
            case Points():
                return "<ul>" + "".join(f"<li>{escape(point)}</li>" for point in element.points) + "</ul>"
            case Table():
                return self.table(element)
            case CaptionedFigure():
                self.n_figures += 1
                svg = inline_svg(self.svgs[element.name], f"{element.name}-")
                caption = f"<figcaption><b>Figure {self.n_figures}.</b> {escape(element.caption)}"
                reading = f' <span class="reading">{escape(element.reading)}</span>' if element.reading else ""
                name = escape(element.name, quote=True)
                buttons = "".join(
                    f'<button type="button" data-kind="{kind}">{kind.upper()}</button>' for kind in ("svg", "csv")
                )
                caption += f'{reading} <span class="download" hidden>Download: {buttons}</span></figcaption>'
                data = escape(figure_csv(element.figure, element.numbers), quote=True)
                names = f'id="figure-{name}" data-name="{name}" data-csv="{data}"'
                return f'<figure class="picture" {names}>{svg}{caption}</figure>'
            case Listing():
                return f"<details><summary>{escape(element.title)}</summary><pre>{escape(element.text)}</pre></details>"
            case SystemComparison():
                return _comparison(element)
            case SentenceBrowser():
                return _sentences(element)

    def table(self, table: Table) -> str:
        self.n_tables += 1
        numeric = [table.numeric(k) for k in range(len(table.columns))]
        marked = [table.marked(k) for k in range(len(table.columns))]
        head = ""
        if any(column.title for column in table.columns):
            cells = (
                _tag("th", "num" if n else "", _explained(_breakable(c.title), table.about.get(_word(c.title), "")))
                for c, n in zip(table.columns, numeric, strict=True)
            )
            head = f"<thead><tr>{''.join(cells)}</tr></thead>"
        bodies = []
        for group in table.groups:
            rows = (
                [
                    f'<tr class="group"><th colspan="{len(table.columns)}">'
                    f"{_explained(escape(group.title), table.about.get(group.title, ''))}</th></tr>"
                ]
                if group.title
                else []
            )
            for row in group.rows:
                cells = (_cell(cell, n, m, table.about) for cell, n, m in zip(row, numeric, marked, strict=True))
                rows.append(f"<tr>{''.join(cells)}</tr>")
            bodies.append("<tbody>" + "\n".join(rows) + "</tbody>")
        note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
        caption = f"<b>Table {self.n_tables}.</b> {escape(table.caption)}"
        inner = f'<div class="scroll" tabindex="0"><table>{head}{"".join(bodies)}</table></div>{note}'
        if table.folded:
            inner = f"<details><summary>{caption}</summary>{inner}</details>"
        else:
            inner = f"<figcaption>{caption}</figcaption>{inner}"
        kind = "table" + (" folded" if table.folded else "") + (" wide" if len(table.columns) > _MANY_COLUMNS else "")
        return f'<figure class="{kind}" id="table-{escape(table.name)}">{inner}</figure>'


def _breakable(name: str) -> str:
    """A name that may be broken into lines at its punctuation.

    >>> _breakable("source_phrase<s>")
    'source_<wbr>phrase&lt;s&gt;'
    """
    return "<wbr>".join(escape(part) for part in re.split(r"(?<=[^\W\d][_.:/-])(?=[^\W\d])", name))


def _tag(tag: str, kind: str, inner: str) -> str:
    return f'<{tag} class="{kind}">{inner}</{tag}>' if kind else f"<{tag}>{inner}</{tag}>"


def _explained(inner: str, about: str) -> str:
    """Words with an explanation on hovering."""
    return f'<abbr title="{escape(about, quote=True)}" tabindex="0">{inner}</abbr>' if about else inner


def _word(title: str) -> str:
    """The word of a column's title to explain.

    >>> _word("BLEU ↑"), _word("Δ TER"), _word("F1 swap")
    ('BLEU', 'TER', 'swap')
    """
    return title.removesuffix(" ↑").removesuffix(" ↓").removeprefix("Δ ").removeprefix("F1 ")


def _cell(cell: Cell, numeric: bool, marks: int, about: Mapping[str, str] = MappingProxyType({})) -> str:
    if cell is None or isinstance(cell, str):
        text = NOTHING if cell is None else _explained(escape(cell), about.get(cell, ""))
        return _tag("td", "num" if numeric else "", text)
    text = f"<b>{cell.text}</b>" if cell.best else cell.text
    spread = f' <span class="spread">{cell.spread_text}</span>' if cell.spread is not None else ""
    sign = f'<span class="marks" style="min-width:{0.52 * marks:.2f}em">{escape(cell.marks)}</span>' if marks else ""
    title = f' title="{escape(cell.note, quote=True)}"' if cell.note else ""
    kind = "num best" if cell.best else "num"
    return f'<td class="{kind}"{title}>{text}{sign}{spread}</td>'


def _choice(pair: tuple[str, str] | None) -> str:
    """Two lists of systems, filled by the script; the choice applies to the whole page."""
    first, second = (escape(name, quote=True) for name in pair or ("", ""))
    return (
        f'<span class="choice" data-first="{first}" data-second="{second}" hidden><label>Compare <select></select></label> '
        "<label>with <select></select></label></span>"
    )


def _comparison(comparison: SystemComparison) -> str:
    data = json.dumps({"scores": comparison.scores, "lower": comparison.lower}, ensure_ascii=False)
    return (
        f'<div class="comparison" data-scores="{escape(data, quote=True)}" hidden>\n'
        f'<div class="pager">{_choice(comparison.pair)}</div>\n'
        '<figure class="table"><div class="scroll" tabindex="0"><table></table></div></figure>\n</div>'
    )


def _sentences(element: SentenceBrowser) -> str:
    return (
        '<p class="key"><span class="forward">jumps forward (d &lt; 0)</span> <span class="monotone">monotone</span> '
        '<span class="back">goes back (d &gt; 0)</span> Point at, tap or focus a phrase for its scores.'
        '<span class="only-pair" hidden>Phrases that both systems have are pale.</span></p>\n'
        '<div class="browser">\n'
        '<div class="pager" hidden><button type="button" data-step="-1" aria-label="previous sentence">←</button>'
        '<label>Sentence <select class="which"></select></label> <span class="count"></span>'
        f'<button type="button" data-step="1" aria-label="next sentence">→</button> {_choice(element.pair)}</div>\n'
        + "\n".join(_sentence(k, sentence) for k, sentence in enumerate(element.sentences))
        + '\n<pre class="tip" role="status" hidden></pre>\n</div>'
    )


def _sentence(k: int, sentence: Mapping[str, Json]) -> str:
    name = escape(str(sentence.get("id", k + 1)), quote=True)
    limit = f', <span class="total">{limit_text(limit_of(sentence))}</span>' if "limit" in sentence else ""
    source = escape(" ".join(map(str, sentence["source"])))
    reference = escape(" ".join(map(str, sentence.get("reference") or [])))
    differs = f', <span class="total">{escape(str(sentence["differs"]))} differ</span>' if sentence.get("differs") else ""
    parts = [f'<article class="pair" id="sentence-{name}" data-name="{name}">', f"<h3>Sentence {name}{limit}{differs}</h3>"]
    parts.append(f"<dl><dt>source</dt><dd>{source}</dd>" + (f"<dt>reference</dt><dd>{reference}</dd>" if reference else ""))
    parts.append("</dl>")
    for hypothesis in sentence.get("hypotheses") or []:
        system, total = str(hypothesis.get("system", "")), hypothesis.get("total")
        score = f' <span class="total">score {in_digits(total, 2)}</span>' if is_number(total) else ""
        parts.append(
            f'<div class="hypothesis" data-system="{escape(system, quote=True)}"><h4>{escape(system)}{score}</h4>'
            f'<div class="scroll" tabindex="0">{draw_translation(sentence, hypothesis)}</div>'
            f"{_scores(sentence, hypothesis)}</div>"
        )
    return "\n".join([*parts, "</article>"])


def _scores(sentence: Mapping[str, Json], hypothesis: Mapping[str, Json]) -> str:
    """The scores of all phrases as a table, for readers who cannot hover."""
    words = [str(word) for word in sentence["source"]]
    segments = segments_of(hypothesis, len(words))
    names = list(dict.fromkeys(name for segment in segments for name in segment.scores))
    if not names:
        return ""

    def rows() -> Iterator[str]:
        for segment in segments:
            cells: list[Cell] = [f"{' '.join(words[segment.begin : segment.end])} → {segment.target or '∅'}"]
            cells += [Number(segment.distance), *(number(segment.scores.get(name), 3) for name in names)]
            yield f"<tr>{''.join(_cell(cell, k > 0, 0) for k, cell in enumerate(cells))}</tr>"

    head = "".join(f'<th class="num">{_breakable(name)}</th>' for name in names)
    return (
        '<details><summary>Scores by phrase</summary><div class="scroll" tabindex="0"><table>'
        f'<thead><tr><th>phrase</th><th class="num">d</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows())}</tbody></table></div></details>"
    )
