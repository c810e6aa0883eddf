"""What the tutorial and the guide to models show, runs, and prints what they say."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from tests.docs.cells import DOCS, alike, blocks, cells, run


def test_tutorial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in cells(DOCS / "tutorial.md"):
        printed = run(cell, tmp_path, names)
        assert bool(printed) == (cell.output is not None), cell.code.text
        if cell.output is not None:
            assert alike(cell.output, printed), f"the page says\n{cell.output}\nbut now it is\n{printed}"


def test_a_model_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = DOCS / "adding-a-model.md"
    files = {block.title: block.text for block in blocks(page) if block.title}
    (tmp_path / "by_place.py").write_text(files["by_place.py"], encoding="utf-8")
    # What `pip install .` would leave behind.
    project = tomllib.loads(files["pyproject.toml"])["project"]
    installed = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["hyperbaton.model"].items()
    (installed / "entry_points.txt").write_text("[hyperbaton.model]\n" + "".join(f"{k} = {v}\n" for k, v in points))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    (commands,) = [cell for cell in cells(page) if cell.code.language == "sh"]
    printed = run(commands, tmp_path, {})
    assert '"name": "by_place"' in printed and "\nby_place\t" in printed
