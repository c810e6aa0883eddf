"""Work that must not be repeated for every short request: vocabularies, lists of plug-ins."""

from __future__ import annotations

import pkgutil
from typing import Any

import numpy as np
import pytest

from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.phrases.orientation import ORIENTATIONS


def test_a_text_takes_only_its_own_words_to_another_vocabulary() -> None:
    text = Text.of(["a new dog", "many other words"])
    other = text.select(np.array([0])).over(Vocabulary.of(["dog", "a"]))
    assert other.vocabulary.words() == ["dog", "a", "new"] and other.tokens.tolist() == [1, 2, 0]
    empty = text.select(np.array([], np.int64)).over(Vocabulary.of(["dog"]))
    assert empty.vocabulary.words() == ["dog"] and len(empty.tokens) == 0


def test_a_plugin_that_is_imported_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    three = ORIENTATIONS["three"]

    def listed(*_: Any) -> Any:
        raise AssertionError("the folder was listed")

    monkeypatch.setattr(pkgutil, "iter_modules", listed)
    assert ORIENTATIONS["three"] is three
