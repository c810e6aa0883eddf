"""Work that must not be repeated for every short request: indexes of features, vocabularies, lists of plug-ins."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.errors import DamagedError
from hyperbaton.corpus import Bitext, Text, Vocabulary
from hyperbaton.data import generate
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
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


def test_the_phrases_of_a_request_have_only_their_own_words() -> None:
    bitext = Bitext.of(["wo ai ni", "wo"], ["i love you", "i"], [[(0, 0), (1, 1), (2, 2)], [(0, 0)]])
    lm = LanguageModel.estimate(bitext.target, order=2, discount_fallback=True)
    translator = TokenTranslator(System.of(PhraseTable.build(bitext, extract(bitext)), [lm]))
    found = translator.translate_batch(["wo xin ni jiu"], NBest())
    assert found.lines() == ["i xin you jiu"]
    assert sorted(found.batch.options.target.vocabulary.words()) == ["i", "jiu", "xin", "you"]


def test_numbers_are_replaced_by_places_among_the_distinct_ones() -> None:
    numbers = np.array([7, 2, 2**32 - 1, 7, 0], np.uint32)
    for given in (numbers, numbers[:0]):
        wanted = np.unique(given, return_inverse=True)
        assert all(np.array_equal(one, other) for one, other in zip(_core.distinct(given), wanted, strict=True))


def test_a_number_that_the_language_model_lacks_is_found_when_it_is_used() -> None:
    bitext = Bitext.of(["a", "b"], ["x", "y"], [[(0, 0)]] * 2)
    lm = LanguageModel.estimate(bitext.target, order=2, discount_fallback=True)
    system = System.of(PhraseTable.build(bitext, extract(bitext)), [lm])
    broken = replace(system, lm_words={"LM0": np.array([10**6, *system.lm_words["LM0"][1:]], np.uint32)})
    assert TokenTranslator(broken).translate("b") == "y"
    with pytest.raises(DamagedError, match="a word is not in the language model"):
        TokenTranslator(broken).translate("a")


def test_the_service_starts_without_figures_and_runs() -> None:
    code = "import sys, hyperbaton.serve.app; print(sorted({'matplotlib', 'hyperbaton.run'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
