"""What `mkdocs build` does besides turning Markdown into pages.

- `<!-- @commands -->`, `<!-- @list models -->` and `<!-- @options learners/sgd -->` become what the program says about
  itself, and the page of a model ends with its options, so that no option is written down twice; `<!-- @precision LR -->`
  quotes figures from the page that tells how they were measured.
- Formulas between dollar signs become MathML: browsers draw it without a script, and without a network.
- Pictures are drawn by the package from generated text. The pages of `api/` are made from docstrings, those of `commands/`
  from the commands.
- A pattern in the navigation stands for the pages it matches.
"""

from __future__ import annotations

import fnmatch
import html
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import api
import pictures
import reference
import results
from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

# What can stand in a page as `<!-- @NAME ARGUMENT -->`.
_GENERATED: dict[str, Callable[..., str]] = {
    "api": api.index,
    "commands": reference.commands,
    "list": reference.plugin_list,
    "options": reference.plugin_options,
    "precision": results.precision,
    "predicted": results.predicted,
}
# Pages without a file, by their place among the sources.
_PAGES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(api.pages(), api.page),
    **dict.fromkeys(reference.command_pages(), reference.command_page),
}
_MARK = re.compile(r"^<!-- @(\S+)(?: (\S+))? -->$", re.MULTILINE)
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
            stored = sorted(path.relative_to(docs).as_posix() for path in docs.glob(entry)) if "*" in entry else [entry]
            matched = stored + fnmatch.filter(_PAGES, entry)
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


def on_files(files: Any, config: Any) -> Any:
    """Add the pictures and the pages that are made."""
    for name, content in pictures.draw().items():
        files.append(File.generated(config, f"pictures/{name}.svg", content=content))
    for page, make in _PAGES.items():
        files.append(File.generated(config, page, content=make(page)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put in what is generated."""

    def generated(match: re.Match[str]) -> str:
        name, argument = match.groups()
        if name not in _GENERATED:
            raise PluginError(f"{page.file.src_uri}: nothing is called @{name}; there are {', '.join(_GENERATED)}")
        return _GENERATED[name](*([argument] if argument else []))

    filled = _MARK.sub(generated, markdown)
    kind, _, name = page.file.src_uri.removesuffix(".md").partition("/")
    if name in reference.REGISTRIES.get(kind, ()) and f"@options {kind}/{name} " not in markdown:
        filled += f"\n\n## Options\n\n{reference.plugin_options(f'{kind}/{name}')}"
    return filled


def on_page_content(html_text: str, **_: Any) -> str:
    """Turn formulas into MathML."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[1] == "div" else "inline"
        drawn = convert(html.unescape(match[2]).strip(), display=display)
        # A formula that is wider than a small screen scrolls by itself, not the page.
        return f'<div class="formula">{drawn}</div>' if display == "block" else drawn

    return _FORMULA.sub(formula, html_text)
