"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.forks import forks

if TYPE_CHECKING:
    from hyperbaton.decode import System

# Loaded by the interpreter of `make sanitize`, not by pytest.
collect_ignore = ["sanitize"]

# How long an example takes says more about the machine than about the code.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")


def pytest_collection_finish() -> None:
    """Keep the collector from the many objects that stay until the end: tests, and modules that they have imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests a machine leaves out: how many, for each reason."""
    skipped = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped"))
    for reason, count in skipped.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(autouse=True)
def _plain_interpreters() -> Iterator[None]:
    """Undo what the program sets for the interpreters that it starts, if a test ran it in this process."""
    yield
    os.environ.pop("PYTHONSAFEPATH", None)


GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of golden files."""
    return GOLDEN


@pytest.fixture(scope="session")
def moses_system(golden: Path) -> System:
    """A system that Moses trained; tests must not change it."""
    from hyperbaton.decode.moses import import_moses  # here: not all tests need the package

    return import_moses(golden / "moses" / "decode" / "hier-mslr.moses.ini")


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """An interpreter that starts fast, for tests of processes."""
    with forks() as program:
        yield program


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
