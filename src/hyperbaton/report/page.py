"""The report as one self-contained HTML page, with styles, script and pictures inside.

Pictures take their colours from the page's variables, so that they suit dark screens. Everything is readable without
scripts; the script only pages through the sentences, compares two systems, and shows scores on devices without a mouse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from json import dumps

from markupsafe import Markup

from hyperbaton.base.forms import Json
from hyperbaton.base.templates import environment
from hyperbaton.report.elements import (
    CaptionedFigure,
    Cell,
    Number,
    Section,
    Table,
    in_digits,
    is_number,
    number,
    runs,
)
from hyperbaton.report.figures import BACK, DARK, FAINT, FORWARD, INK, MONOTONE, PAPER, figure_csv
from hyperbaton.report.sentences import draw_translation, segments_of
from hyperbaton.report.translation_sections import limit_of, limit_text


def as_page(
    title: str,
    sections: Sequence[Section],
    svgs: Mapping[str, str],
    name: str = "page",
    styles: str = "page",
    scripts: str = "page",
    **values: object,
) -> str:
    """The whole page; `svgs` are the pictures by name. Tables and figures are numbered in order.

    Arguments:
        name: the template, with `styles` and `scripts` as for `whole_page`; `values` are further ones of that template.
    """
    elements = [element for section in sections for element in section.elements]
    tables, figures = (
        {element.name: n for n, element in enumerate((e for e in elements if isinstance(e, kind)), start=1)}
        for kind in (Table, CaptionedFigure)
    )

    def svg(figure: CaptionedFigure) -> Markup:
        return Markup(inline_svg(svgs[figure.name], f"{figure.name}-"))

    return whole_page(name, title, styles, scripts, sections=sections, tables=tables, figures=figures, svg=svg, **values)


def whole_page(name: str, title: str, styles: str, scripts: str, **values: object) -> str:
    """The page of the template with this name, with the styles and scripts of these names (with spaces between) inside."""
    folder = resources.files(__package__).joinpath("templates")
    style, script = (
        Markup("".join(folder.joinpath(f"{part}.{kind}").read_text(encoding="utf-8") for part in parts.split()))
        for kind, parts in (("css", styles), ("js", scripts))
    )
    filters = (breakable, word, in_digits, is_number, runs, scores, signed)
    templates = environment(__package__, **{function.__name__: function for function in filters})
    for function in (draw_translation, figure_csv, limit_of, limit_text, dumps):
        templates.globals[function.__name__] = function
    page = templates.get_template(f"{name}.html")
    return page.render(title=title, colours=Markup(_colours()), style=style, script=script, **values)


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
    """A picture of `svg_text` in a page: no prologue, unique ids, the page's colours; its links lead to parts of the page.

    >>> inline_svg('<?xml?><svg xmlns="x"><metadata>m</metadata><path id="p1" style="fill: #22272e"/></svg>', "a-")
    '<svg><path id="a-p1" style="fill: var(--c22272e)"/></svg>'
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>(?:(?!<metadata>).)*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s(?:xmlns(?::\w+)?|version|target)="[^"]*"', "", svg)
    svg = re.sub(r'(\bid="|url\(#|href="#)(?=p\d+[")])', rf"\g<1>{prefix}", svg)
    return re.sub("#[0-9a-f]{6}", lambda m: f"var({_variable(m[0])})" if m[0] in DARK else m[0], svg)


def breakable(name: str) -> Markup:
    """A name that may be broken into lines at its punctuation.

    >>> breakable("source_phrase<s>")
    Markup('source_<wbr>phrase&lt;s&gt;')
    """
    return Markup("<wbr>").join(re.split(r"(?<=[^\W\d][_.:/-])(?=[^\W\d])", name))


def word(title: str) -> str:
    """The word of a column's title to explain.

    >>> word("BLEU ↑"), word("Δ TER"), word("F1 swap")
    ('BLEU', 'TER', 'swap')
    """
    return title.removesuffix(" ↑").removesuffix(" ↓").removeprefix("Δ ").removeprefix("F1 ")


def scores(sentence: Mapping[str, Json], hypothesis: Mapping[str, Json]) -> tuple[list[str], list[list[Cell]]]:
    """The scores of all phrases, for readers who cannot hover: their names, and rows of phrase, distance and scores."""
    words = [str(word) for word in sentence["source"]]
    segments = segments_of(hypothesis, len(words))
    names = list(dict.fromkeys(name for segment in segments for name in segment.scores))
    rows: list[list[Cell]] = [
        [
            f"{' '.join(words[segment.begin : segment.end])} → {segment.target or '∅'}",
            Number(segment.distance),
            *(number(segment.scores.get(name), 3) for name in names),
        ]
        for segment in segments
    ]
    return names, rows


def signed(value: float) -> str:
    """A number with two decimals and a proper minus sign."""
    return f"{value:.2f}".replace("-", "−")
