r"""Tables for LaTeX: `\input{tables/translation}` in a paper that loads booktabs and, for tables of many columns, graphicx.

Words in other scripts are kept: XeLaTeX and LuaLaTeX can set them.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

from hyperbaton.report.elements import Cell, Table

WIDE = 8  # columns; tables with more are scaled to the width of the text
_SPECIAL: dict[str, str] = tomllib.loads(files(__package__).joinpath("latex.toml").read_text(encoding="utf-8"))


def escaped(text: str) -> str:
    r"""Escape all special characters of LaTeX.

    >>> print(escaped("50% of a_b & {c}"))
    50\% of a\_b \& \{c\}
    """
    return "".join(_SPECIAL.get(c, c) for c in text)


def as_latex(table: Table) -> str:
    """A table with its caption and label."""
    columns = "".join("r" if table.numeric(k) else "l" for k in range(len(table.columns)))
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{escaped(table.caption)}}}", rf"\label{{tab:{table.name}}}"]
    wide = len(table.columns) > WIDE
    lines += [r"\resizebox{\textwidth}{!}{%"] if wide else []
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    if any(column.title for column in table.columns):
        lines += [" & ".join(escaped(column.title) for column in table.columns) + r" \\", r"\midrule"]
    for k, group in enumerate(table.groups):
        if k:
            lines.append(r"\midrule")
        if group.title:
            lines.append(rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\textit{{{escaped(group.title)}}}}} \\")
        lines += [" & ".join(map(_cell, row)) + r" \\" for row in group.rows]
    lines += [r"\bottomrule", r"\end{tabular}" + "}" * wide]
    if table.note:
        lines.append(rf"\par\smallskip\footnotesize {escaped(table.note)}")
    return "\n".join([*lines, r"\end{table}", ""])


def _cell(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return escaped(cell) if cell is not None else "--"
    text = rf"\textbf{{{escaped(cell.text)}}}" if cell.best else escaped(cell.text)
    spread = rf" {{\scriptsize {escaped(cell.spread_text)}}}" if cell.spread is not None else ""
    marks = f"$^{{{escaped(cell.marks).replace('$', '')}}}$" if cell.marks else ""
    return text + marks + spread
