"""What all tests share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from hyperbaton.__main__ import main

# Loaded by the interpreter of `make sanitize`, not by pytest.
collect_ignore = ["sanitize"]

# How long an example takes says more about the machine than about the code.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

GOLDEN = Path(__file__).parent / "golden"


class Done(NamedTuple):
    """What a run of the program left: its exit status and what it wrote."""

    returncode: object
    stdout: str
    stderr: str


@pytest.fixture
def hyperbaton(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The program, in this process: starting another for every message would take longer than all else."""

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["hyperbaton", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return Done(left.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of golden files."""
    return GOLDEN


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora, where there is one."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("HYPERBATON_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no real corpora here (set HYPERBATON_DATA)")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real browser, where Playwright and a Chromium are installed."""
    sync_api = pytest.importorskip("playwright.sync_api")
    named = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if named is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=named, args=["--no-sandbox"])
        yield browser
        browser.close()
