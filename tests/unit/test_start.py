"""Commands start fast: they import nothing that they do not use, and lazy packages give what they list."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from hyperbaton import align, decode, report
from hyperbaton.decode.moses import import_moses

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
# Libraries that take long to import; http.client and ssl come with a careless import of xml.sax.
SLOW = {"scipy", "multiprocessing", "xml", "http.client", "ssl", "torch", "pandas", "matplotlib", "rich", "asyncio"}
RUN = """
import sys
from hyperbaton.__main__ import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def test_translating_imports_no_slow_library(tmp_path: Path) -> None:
    import_moses(GOLDEN / "decode" / "hier-mslr.moses.ini").save(tmp_path / "system")
    command = [sys.executable, "-c", RUN, "translate", str(tmp_path / "system"), "-q"]
    done = subprocess.run(command, input="a b\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("\n") == 1, done.stderr
    loaded = set(done.stderr.split())
    assert not loaded & SLOW
    unused = {"align.aligners.hmm", "align.lexicon", "base.processes", "decode.preordering", "decode.raw", "decode.shards"}
    assert "hyperbaton.decode.translator" in loaded and not loaded & {f"hyperbaton.{name}" for name in unused}


def test_drawing_a_pair_as_text_imports_no_matplotlib(tmp_path: Path) -> None:
    for name, line in (("source", "a b"), ("target", "x y"), ("links", "0-1 1-0")):
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    command = [sys.executable, "-c", RUN, "inspect", *(str(tmp_path / name) for name in ("source", "target", "links"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "-1  b       x" in done.stdout, done.stdout + done.stderr
    assert "matplotlib" not in done.stderr.split()


@pytest.mark.parametrize("package", [align, decode, report], ids=lambda package: package.__name__)
def test_lazy_packages_give_the_names_that_they_list(package: object) -> None:
    """What type checkers see, what `__all__` lists and what is imported on demand are written down apart."""
    name, listed = package.__name__, package.__all__  # type: ignore[attr-defined]
    file = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    (choice,) = (node for node in file.body if isinstance(node, ast.If))
    checked = {alias.name: node.module for node in choice.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(checked) == sorted(listed)
    for each, module in checked.items():
        assert getattr(package, each) is getattr(importlib.import_module(module or ""), each)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_a_module_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    """Not a skipped module of doctests, as pytest has it with --doctest-ignore-import-errors."""
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name\n\n\ndef test_it() -> None:\n    pass\n")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-c", str(root / "pyproject.toml"), "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode != 0 and "No module named 'nothing_of_that_name'" in done.stdout, done.stdout
