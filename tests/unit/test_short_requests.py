"""Work that must not be repeated for every short request: indexes of features, vocabularies, lists of plug-ins."""

from __future__ import annotations

import pkgutil
from typing import Any

import numpy as np
import pytest

from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.data import generate
from hyperbaton.models import MODELS
from hyperbaton.phrases.orientation import ORIENTATIONS


def test_a_text_takes_only_its_own_words_to_another_vocabulary() -> None:
    text = Text.of(["a new dog", "many other words"])
    other = text.select(np.array([0])).over(Vocabulary.of(["dog", "a"]))
    assert other.vocabulary.words() == ["dog", "a", "new"] and other.tokens.tolist() == [1, 2, 0]
    empty = text.select(np.array([], np.int64)).over(Vocabulary.of(["dog"]))
    assert empty.vocabulary.words() == ["dog"] and len(empty.tokens) == 0


def test_features_are_indexed_once_for_each_training() -> None:
    first, second = (generate(30, seed=seed).bitext for seed in (1, 2))
    model: Any = MODELS["pair"](learner="lbfgs:max-passes=1")
    for bitext in (first, second):
        model.fit(bitext)
        fresh = MODELS["pair"](learner="lbfgs:max-passes=1").fit(bitext).jump_logprobs(bitext.source)
        assert np.array_equal(model.jump_logprobs(bitext.source).values, fresh.values)
        index = model._features
        model.jump_logprobs(bitext.source)
        assert model._features is index


def test_a_plugin_that_is_imported_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    three = ORIENTATIONS["three"]

    def listed(*_: Any) -> Any:
        raise AssertionError("the folder was listed")

    monkeypatch.setattr(pkgutil, "iter_modules", listed)
    assert ORIENTATIONS["three"] is three
