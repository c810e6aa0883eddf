"""Bash for the blocks of pages, with programs that cost little.

`hyperbaton` is run by an interpreter that starts fast (tests/forks.py). `pip install .` builds the package in the folder
with setuptools and puts it beside, as pip does, but without pip's isolated environment, which needs a network. For
`pip install 'hyperbaton[EXTRA]'` the extras must exist. `make` looks its targets up and does nothing. The folder of the
page is the user's home.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Files of `pip install` in the folder of a page.
INSTALLED = ".installed"


class Shell:
    """Runs scripts of bash in a folder, with the program of this interpreter's environment."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs

    def run(self, script: str, folder: Path) -> str:
        """Run a script; returns what it printed to stdout."""
        path = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {
            "PATH": path,
            "HOME": str(folder),  # blocks may change the settings of the user who runs them
            "PYTHONPATH": str(folder / INSTALLED),
        }
        env = {**os.environ, **settings}
        # Without a trap, bash replaces itself by its last command.
        arguments = ["bash", "-euo", "pipefail", "-c", f"trap : EXIT\n{script}"]
        done = subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stderr}"
        return done.stdout


@contextlib.contextmanager
def shell(python: Path) -> Iterator[Shell]:
    """A shell whose `hyperbaton` is run by an interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = {
            "hyperbaton": f'#!/bin/sh\nexec {python} -m hyperbaton "$@"\n',
            "pip": f'#!/bin/sh\nexec {sys.executable} {__file__} "$@"\n',
            "make": f'#!/bin/sh\nexec {shutil.which("make")} --dry-run --directory {ROOT} "$@" > /dev/null\n',
        }
        for name, text in scripts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
            Path(folder, name).chmod(0o755)
        yield Shell(Path(folder))


def _pip(words: list[str]) -> None:
    """Stand in for pip, as the module says."""
    command, *requirements = words
    assert command == "install", words
    known = set(metadata.metadata("hyperbaton").get_all("Provides-Extra") or [])
    for requirement in requirements:
        if requirement == ".":
            from setuptools import setup

            Path(INSTALLED).mkdir()
            setup(script_args=["-q", "egg_info", "--egg-base", INSTALLED, "build_py", "--build-lib", INSTALLED])
            continue
        named = re.fullmatch(r"(?:hyperbaton|\.)\[([\w,]+)\]", requirement)
        extras = set(named[1].split(",")) if named else {requirement}
        assert extras <= known, f"pip install {requirement}: no such extra; there are {', '.join(sorted(known))}"


if __name__ == "__main__":
    _pip(sys.argv[1:])
