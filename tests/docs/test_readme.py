"""The examples of the README work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hyperbaton import verify
from hyperbaton.cli import verbs
from hyperbaton.data import generate

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_five_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = generate(170, seed=1).split(n_dev=20, n_test=50)
    for part in ("train", "dev", "test"):
        bitext = parts[part].bitext
        for name, text in (("zh", bitext.source), ("en", bitext.target), ("links", bitext.need_links())):
            (tmp_path / f"{part}.{name}").write_bytes(b"".join(text.pieces()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hyperbaton.run.translator.MOST", 1)  # iterations of tuning
    whole, parts_of_it = blocks("python")
    seen: dict[str, Any] = {}
    for code in (whole, parts_of_it):
        assert len([line for line in code.splitlines() if line]) <= 5
        exec(code, seen)
    assert seen["translator"].translate("") == "" and verify(tmp_path / "system") is None
    assert seen["p"].shape == (len(seen["samples"]), 5) and len(seen["samples"]) > 1000


def test_it_fits_a_screen() -> None:
    assert len(README.splitlines()) <= 65


def test_every_figure_is_on_a_page_that_is_linked() -> None:
    """No figure is quoted that another page does not have, with the command that measures it."""
    linked = [ROOT / target for target in re.findall(r"\]\((docs/[^)]+\.md)\)", README)]
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
        assert (ROOT / target).exists(), target
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
