"""What the tutorial, the guides to Python and the guide to models show, runs, and prints what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.cells import DOCS, alike, blocks, cells, run


@pytest.mark.slow
@pytest.mark.parametrize("page", ["tutorial", "python", "scikit-learn"])
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "scikit-learn":
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in cells(DOCS / f"{page}.md"):
        printed = run(cell, tmp_path, names)
        assert bool(printed) == (cell.output is not None), cell.code.text
        if cell.output is not None:
            assert alike(cell.output, printed), f"the page says\n{cell.output}\nbut now it is\n{printed}"


@pytest.mark.slow
def test_a_model_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = DOCS / "adding-a-model.md"
    files = {block.title: block.text for block in blocks(page) if block.title}
    for name in ("by_place.py", "few_gaps.py", "experiment.toml"):
        (tmp_path / name).write_text(files[name], encoding="utf-8")
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
    assert '"name": "by_place"' in printed and "\nby_place\t" in printed and "\nfew_gaps\t" in printed
    assert "expected order:" in printed
    # Nothing else is edited: an experiment trains, evaluates and uses both, and the report shows them.
    command = [sys.executable, "-m", "hyperbaton", "run", "experiment.toml", "-o", "run", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    assert [row["model"] for row in results["orientation"]] == ["by_place"]
    assert [row["model"] for row in results["step"]] == ["few_gaps"] and results["step"][0]["accuracy"] > 0
    report = (tmp_path / "run" / "report" / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert "few_gaps predicts" in report and "| few_gaps |" in report and "| by_place |" in report
