"""The examples of the README work."""

from __future__ import annotations

import re
from pathlib import Path

from hyperbaton.cli import verbs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python_examples_are_short() -> None:
    """They are run by test_pages.py."""
    for code in blocks("python"):
        assert len([line for line in code.splitlines() if line]) <= 5


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 110


def test_every_figure_is_on_a_page_that_is_linked() -> None:
    """No figure is quoted that another page does not have, with the command that measures it."""
    linked = [ROOT / target for target in re.findall(r"\]\((docs/[^)#]+\.md)", README)]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in linked)
    rows = [line for line in README.splitlines() if line.startswith("|")]
    figures = {figure for row in rows for figure in re.findall(r"\d[\d,]*\.?\d*", re.sub(r"`[^`]*`", "", row))}
    assert len(figures) > 20
    missing = [figure for figure in figures if not re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d])", pages)]
    assert missing == []
    for command in set(re.findall(r"python (?:-m )?benchmarks[./][\w./]+", README)):
        assert command in pages, command


def test_commands_and_links_exist() -> None:
    for verb in re.findall(r"^hyperbaton ([a-z-]+)", README, re.MULTILINE):
        assert verb in verbs(), verb
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", README, flags=re.DOTALL)):
        assert (ROOT / target.partition("#")[0]).exists(), target
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_it_begins_with_the_commands_of_a_newcomer() -> None:
    assert re.findall(r"^make \w+", blocks("sh")[0], re.MULTILINE) == ["make demo", "make test", "make docs"]
