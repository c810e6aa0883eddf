"""Installing says what it is doing, and the demo installs no more than it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
    (folder / "pip.py").write_text(PIP.replace("STATUS", str(status)))
    command = [sys.executable, ROOT / "tools" / "install.py", folder / "log", "--editable", "."]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_packages_and_steps_are_told(tmp_path: Path) -> None:
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


def test_only_tests_and_docs_install_everything(tmp_path: Path) -> None:
    def recipe(target: str) -> str:
        command = ["make", "--dry-run", target, f"VENV={tmp_path / 'none'}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "[dev]" in recipe("test") and "[dev]" in recipe("docs")
    assert "--editable ." in recipe("demo") and "[dev]" not in recipe("demo")
