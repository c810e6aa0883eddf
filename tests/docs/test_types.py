"""A type checker accepts the Python of the documentation as the programs of a user."""

from __future__ import annotations

import importlib.util
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.cells import cells
from tests.docs.test_pages import page_of, pages

ROOT = Path(__file__).parents[2]
# Pages whose functions have no annotations, since comments tell the shapes of their arrays.
UNTYPED = {"decode", "scikit-learn"}


def programs() -> dict[str, str]:
    """The Python blocks of each page in a row, and the cells of each notebook."""
    texts = {name: [cell.code.text for cell in cells(page_of(name)) if cell.code.language == "python"] for name in pages()}
    for path in (ROOT / "examples").glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        texts[path.stem] = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {name: "\n\n".join(codes) for name, codes in texts.items() if codes}


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_programs_of_the_documentation_have_no_type_errors(tmp_path: Path) -> None:
    assert {"README", "python", "tutorial", "movements"} <= set(programs())
    for name, text in programs().items():
        relaxed = "# mypy: allow-untyped-defs, allow-untyped-calls\n" if name in UNTYPED else ""
        (tmp_path / f"{name.replace('/', '_').replace('-', '_')}.py").write_text(relaxed + text, encoding="utf-8")
    # The options and the cache of `make check`, which is strict.
    checked = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--no-error-summary"]
    done = subprocess.run([*checked, *map(str, sorted(tmp_path.glob("*.py")))], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout + done.stderr == ""


def test_stubs_of_registries_are_those_of_their_plug_ins() -> None:
    stubs = runpy.run_path(str(ROOT / "tools/stubs.py"))
    for module, name in stubs["REGISTRIES"].items():
        written = stubs["path_of"](module).read_text(encoding="utf-8")
        assert written == stubs["stub"](module, name), "run 'make stubs'"
