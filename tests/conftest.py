"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


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
