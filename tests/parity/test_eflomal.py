"""eflomal through the common interface, if it is installed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from hyperbaton.align import align
from hyperbaton.align.aligners import eflomal
from hyperbaton.base.errors import MissingExtra
from hyperbaton.corpus import Bitext

here = shutil.which(eflomal.PROGRAM) or shutil.which(eflomal.PROGRAM, path=str(Path(sys.executable).parent))


@pytest.mark.skipif(here is None, reason="eflomal is not installed")
def test_links_words_and_skips_empty_lines() -> None:
    pairs = [("das haus", "the house"), ("", "a"), ("das buch", "the book"), ("ein buch", "a book")] * 20
    links = align(Bitext.of([s for s, _ in pairs], [t for _, t in pairs]), "eflomal")
    assert links[1] == []
    assert (1, 1) in links[0]


def test_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eflomal, "PROGRAM", "no-such-program")
    with pytest.raises(MissingExtra, match=r"pip install .*\[eflomal\]"):
        align(Bitext.of(["a"], ["b"]), "eflomal")
