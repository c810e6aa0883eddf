"""What `mkdocs build` does besides turning Markdown into pages.

- Formulas between dollar signs become MathML: browsers draw it without a script, and without a network.
- A pattern in the navigation stands for the pages it matches.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: Any) -> Any:
    """Replace patterns in the navigation by the pages that are named nowhere else."""
    logging.getLogger("jieba").setLevel(logging.WARNING)  # the search plug-in uses it where it is installed
    docs = Path(config.docs_dir)
    named = [page for page in _entries(config.nav) if "*" not in page]
    twice = {page for page in named if named.count(page) > 1}
    if twice:
        raise PluginError(f"mkdocs.yml: the navigation names {', '.join(sorted(twice))} twice")

    def pages(entries: list[Any]) -> list[Any]:
        filled: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                filled.append({title: pages(below) for title, below in entry.items()})
                continue
            matched = sorted(path.relative_to(docs).as_posix() for path in docs.glob(entry)) if "*" in entry else [entry]
            new = [page for page in matched if page == entry or page not in named]
            filled += new
            named.extend(new)
        return filled

    config.nav = pages(config.nav)
    return config


def _entries(nav: list[Any]) -> Iterator[str]:
    """Every page and pattern of the navigation."""
    for entry in nav:
        if isinstance(entry, dict):
            for below in entry.values():
                yield from _entries(below)
        else:
            yield entry


def on_page_content(html_text: str, **_: Any) -> str:
    """Turn formulas into MathML."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        drawn = convert(html.unescape(match[2]).strip(), display=display)
        # A formula that is wider than a small screen scrolls by itself, not the page.
        return f'<div class="formula">{drawn}</div>' if display == "block" else drawn

    return _FORMULA.sub(formula, html_text)
