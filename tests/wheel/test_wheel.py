"""The result of `make wheel`: one complete binary for every Python from 3.11 on that works in an empty environment.

These tests run only where HYPERBATON_DIST names the folder that holds the source archive and the wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = os.environ.get("HYPERBATON_DIST")
pytestmark = pytest.mark.skipif(DIST is None, reason="HYPERBATON_DIST names no folder of built packages")

FAST_TESTS = ["tests/golden", "tests/unit/test_translate.py", "tests/unit/test_store.py"]


@pytest.fixture(scope="module")
def wheel() -> Path:
    (path,) = Path(str(DIST)).glob("*.whl")
    return path


def pythons() -> list[str]:
    """One interpreter for each version of Python from 3.11 on that is installed here; HYPERBATON_PYTHONS names more."""
    named = os.environ.get("HYPERBATON_PYTHONS", "").split()
    interpreters = [sys.executable, *named, *filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 20)))]
    versions: dict[str, str] = {}
    for path in interpreters:
        version = subprocess.run(
            [path, "-c", "import sys; assert sys.version_info >= (3, 11); print(sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if version.returncode == 0:  # a version manager's stand-in for a Python that is not installed fails
            versions.setdefault(version.stdout, path)
    return list(versions.values())


def test_the_wheel_has_the_tag_of_its_content(wheel: Path, tmp_path: Path) -> None:
    assert re.search(r"-cp311-abi3-\w+\.whl$", wheel.name), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"hyperbaton/_core.pyi", "hyperbaton/py.typed"} <= set(names)
    assert [name for name in names if name.endswith(".so")] == ["hyperbaton/_core.abi3.so"]
    assert all(name.startswith(("hyperbaton/", "hyperbaton-")) for name in names), "nothing but the package"
    audit = subprocess.run(
        [sys.executable, "-m", "abi3audit", "--strict", str(wheel)], capture_output=True, text=True, check=False
    )
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_the_archive_builds_without_its_history() -> None:
    (path,) = Path(str(DIST)).glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"CMakeLists.txt", "core/CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "PKG-INFO"} <= names
    assert not any(name.startswith((".venv", "build/", ".git/")) for name in names)


@pytest.mark.parametrize("python", pythons())
def test_the_wheel_works_in_an_empty_environment(wheel: Path, python: str, tmp_path: Path) -> None:
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    interpreter = tmp_path / "venv" / "bin" / "python"
    command = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(command, check=True, cwd=tmp_path)
    program = [tmp_path / "venv" / "bin" / "hyperbaton"]
    version = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert version.split()[1] == wheel.name.split("-")[1]
    subprocess.run([*program, "generate", "-o", "text", "--sentences", "200", "--quiet"], check=True, cwd=tmp_path)

    packages = ["pytest", "hypothesis", "nltk", "scikit-learn", "jiwer", "sacremoses", "jieba", "fugashi", "unidic-lite"]
    subprocess.run([*command[:-1], *packages], check=True, cwd=tmp_path)
    shutil.copytree(ROOT / "tests", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --import-mode=importlib\nmarkers = slow: more than a few seconds\n"
    )
    tests = [interpreter, "-m", "pytest", "-q", "-m", "not slow", *FAST_TESTS]
    done = subprocess.run(tests, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
