"""Installing reports its steps, and every target of the Makefile installs only what it needs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
DEVELOPMENT = {"torch", "docs", "docs-write", "test", "lint", "check", "sanitize", "format"}
DEPENDENCIES = ["hypothesis", "numpy", "scipy", "hyperbaton", "benchmarks"]
PIP = """
print("Collecting numpy>=1.26 (from hyperbaton==0.1.0)")
print("  Using cached numpy.whl")
print("Processing ./wheels/scipy-1.17.1-cp311-cp311-linux_x86_64.whl (from hyperbaton==0.1.0)")
print("Collecting markdown-it-py>=2.2.0")
print("  [0/2] Re-checking globbed directories...")
print("  [1/2] Building CXX object text.cc.o")
print("  [2/2] Linking CXX shared module _core.so")
print("Installing collected packages: numpy, scipy")
raise SystemExit(STATUS)
"""


def install(folder: Path, status: int) -> subprocess.CompletedProcess[str]:
    modules = folder / str(status)  # another file of the same size and second would be taken for the first one
    modules.mkdir()
    (modules / "pip.py").write_text(PIP.replace("STATUS", str(status)))
    command = [sys.executable, ROOT / "tools" / "install.py", folder / "log", "--editable", "."]
    environment = {**os.environ, "PYTHONPATH": str(modules)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_packages_and_steps_are_reported(tmp_path: Path) -> None:
    done = install(tmp_path, 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n") == [
        "  numpy",
        "  scipy",
        "  markdown-it-py",
        "  compiling: 1 of 2",
        "  compiling: 2 of 2",
        "  unpacking 2 packages",
        "",
    ]
    failed = install(tmp_path, 3)
    assert failed.returncode == 3 and "Using cached numpy.whl" in failed.stdout
    assert failed.stdout.endswith(f"pip failed; all that it said is in {tmp_path / 'log'}\n")


def recipe(target: str, venv: Path) -> str:
    """The commands of a target where nothing is installed."""
    command = ["make", "--dry-run", target, f"VENV={venv}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_installs_what_it_runs(target: str, tmp_path: Path) -> None:
    """A program of the virtual environment, or a module that its Python runs, is installed by an earlier line."""
    venv = tmp_path / "none"
    installed = ""
    for line in recipe(target, venv).replace("\\\n", " ").splitlines():
        for program in re.findall(rf"{venv}/bin/python -m (?!venv|pip)(\w+)|{venv}/bin/(?!python)([\w-]+)", line):
            name = "".join(program)
            package = {"hyperbaton": "--editable", "build": " build ", "twine": " twine "}.get(name, name)
            assert package in installed or ("[dev]" in installed and _is_of_dev(name)), (name, line)
        if "tools/install.py" in line:
            installed += f"{line} "


def _is_of_dev(name: str) -> bool:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dev = [*project["optional-dependencies"]["dev"], *project["optional-dependencies"]["docs"]]
    return any(package.startswith(name) for package in dev)


def test_tests_of_the_wheel_need_pytest_alone() -> None:
    """They run where nothing else is installed, so they must not load what the other tests share."""
    (line,) = [
        line for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if "-m pytest --rootdir" in line
    ]
    arguments = line.partition("-m pytest ")[2].split()
    code = f"""
import sys
import pytest
for name in {DEPENDENCIES}:
    sys.modules[name] = None  # as if it were not installed
sys.exit(pytest.main({arguments} + ["-q", "-p", "no:cacheprovider"]))
"""
    environment = {name: value for name, value in os.environ.items() if name != "HYPERBATON_DIST"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "skipped" in done.stdout, done.stdout + done.stderr


def test_only_tests_and_docs_install_everything(tmp_path: Path) -> None:
    for target in TARGETS:
        assert ("[dev]" in recipe(target, tmp_path / "none")) == (target in DEVELOPMENT), target
    assert "--editable ." in recipe("demo", tmp_path / "none")


def make_wheel(folder: Path, name: str, version: str, *needs: str) -> None:
    """An empty package for pip to choose."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {need}" for need in needs)]
    information = f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{information}/METADATA", "\n".join(lines) + "\n")
        file.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{information}/RECORD", "")


@pytest.mark.parametrize("needs", [[], ["triton==3.0"]])
def test_only_a_small_pytorch_is_installed(needs: list[str], tmp_path: Path) -> None:
    """A build with CUDA is refused, even if everything it needs can be had."""
    make_wheel(tmp_path / "wheels", "torch", "2.13.0", *needs)
    make_wheel(tmp_path / "wheels", "triton", "3.0")
    index = ["--isolated", "--no-index", "--find-links", tmp_path / "wheels"]
    options = [*index, "--dry-run", "--ignore-installed", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--constraint", ROOT / "tools" / "torch.txt", "torch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wanted = (1, "Cannot install torch==2.13.0") if needs else (0, "Would install torch-2.13.0")
    assert done.returncode == wanted[0] and wanted[1] in done.stdout + done.stderr


@pytest.mark.parametrize(("status", "told"), [(0, False), (1, True)])
def test_tests_run_without_pytorch_and_say_so(status: int, told: bool, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncase "$*" in *tools/torch.txt*) exit {status};; esac\n')
    program.chmod(0o755)
    for stamp in ("installed", "installed-dev"):
        (tmp_path / stamp).touch()
    done = subprocess.run(["make", "torch", f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ("PyTorch is not installed" in done.stdout) == told
