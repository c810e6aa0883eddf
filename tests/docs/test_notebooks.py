"""The notebooks in examples/ run, show pictures without any setting, and contain the outputs of this version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tools.notebooks import outputs

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))
LARGEST = 200_000  # bytes


def forms(shown: list[dict[str, Any]]) -> list[object]:
    """The outputs of a cell as a reader sees them: texts, and the types of everything else."""
    return [output.get("text") or [output["data"].get("text/plain"), sorted(output["data"])] for output in shown]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and path.stat().st_size < LARGEST
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    pictures = 0
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, start=1):
        shown = outputs("".join(cell["source"]), names, number)
        assert forms(shown) == forms(cell["outputs"]), f"run: python -m tools.notebooks examples/{path.name}"
        assert shown, cell["source"]
        text = str(shown)
        assert " Axes>" not in text or "image/svg+xml" in text, "a picture is shown as text"
        pictures += "image/svg+xml" in text
    assert pictures >= 3


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
