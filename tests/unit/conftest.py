"""Fixtures of the service's tests; what they import needs an extra that other tests do not need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hyperbaton.decode import System
    from tests.unit.services import Running


@pytest.fixture(scope="module")
def german() -> System:
    """A German–English system that translates raw text."""
    from tests.unit.services import german_system

    return german_system()


@pytest.fixture(scope="module")
def moses(moses_system: System) -> System:
    """A French–English system that translates tokenized text."""
    return moses_system


@pytest.fixture(scope="module")
def running_service(german: System, moses: System) -> Iterator[Running]:
    """A service of both systems, with an aligner."""
    from tests.unit.services import running_both

    with running_both(german, moses) as service:
        yield service


@pytest.fixture(scope="module")
def expected(german: System) -> str:
    """The translation of the test text."""
    from tests.unit.services import translated_text

    return translated_text(german)
