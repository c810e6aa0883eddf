"""The exchange kernel against plain recounting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import class_criterion, word_classes
from tests.oracles.classes import criterion, exchange, is_local_optimum

words = st.sampled_from(["a", "b", "c", "d", "e", "f", "$", "gü"])
texts = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12).map(Text.of)


def as_dict(text: Text, classes) -> dict[str, int]:
    return {word: int(g) for word, g in zip(text.vocabulary.words(), classes, strict=True)}


def kernel(text: Text, first, n_classes: int, max_sweeps: int, batch_size: int):
    bigrams = _core.WordBigrams(text.core_tokens, len(text.vocabulary), 1)
    return _core.exchange_classes(
        bigrams,
        np.array(first, np.uint16),
        n_classes=n_classes,
        max_sweeps=max_sweeps,
        batch_size=batch_size,
        n_threads=2,
        progress=None,
    )


@settings(max_examples=60, deadline=None)
@given(text=texts, n_classes=st.integers(1, 5), seed=st.integers(0, 9), batch_size=st.integers(1, 10))
def test_criterion_is_exact_after_every_sweep_and_never_decreases(text, n_classes, seed, batch_size):
    first = np.random.default_rng(seed).integers(2, n_classes + 2, len(text.vocabulary))
    sentences = list(text)
    _, whole = kernel(text, first, n_classes, 30, batch_size)
    for sweeps in range(len(whole)):
        classes, history = kernel(text, first, n_classes, sweeps, batch_size)
        assert history.tolist() == whole[: sweeps + 1].tolist()
        assert history[-1] == pytest.approx(criterion(sentences, as_dict(text, classes)), abs=1e-8)
    assert (np.diff(whole) >= 0).all()
    assert len(whole) < 31  # it came to rest by itself
    assert is_local_optimum(sentences, as_dict(text, classes), range(2, n_classes + 2))


@settings(max_examples=60, deadline=None)
@given(text=texts, n_classes=st.integers(2, 4), seed=st.integers(0, 9))
def test_batches_of_one_are_the_plain_exchange_algorithm(text, n_classes, seed):
    first = np.random.default_rng(seed).integers(2, n_classes + 2, len(text.vocabulary))
    sentences = list(text)
    counts = Counter(word for sentence in sentences for word in sentence)
    order = sorted(text.vocabulary.words(), key=lambda word: -counts[word])
    expected = exchange(sentences, as_dict(text, first), order, range(2, n_classes + 2))
    _, history = kernel(text, first, n_classes, 1, 1)
    # Where two classes are equally good, rounding may choose the other one, and all may end differently.
    assert len(history) == 1 + (len(order) > 0)
    if history[-1] != pytest.approx(criterion(sentences, expected), abs=1e-6):
        assert _has_ties(sentences, as_dict(text, first), order, range(2, n_classes + 2))


def _has_ties(sentences, classes, order, choices) -> bool:
    now = dict(classes)
    for word in order:
        scores = sorted((criterion(sentences, {**now, word: choice}) for choice in choices), reverse=True)
        if scores[0] - scores[1] < 1e-6:
            return True
        now = exchange(sentences, now, [word], choices)
    return False


@settings(max_examples=30, deadline=None)
@given(text=texts, n_classes=st.integers(1, 12), seed=st.integers(0, 9))
def test_classes_of_a_text(text, n_classes, seed):
    result = word_classes(text, n_classes, runs=3, seed=seed, threads=1)
    assert ((result.classes >= 2) & (result.classes <= n_classes + 1)).all()
    assert result.criterion == pytest.approx(class_criterion(text, result), abs=1e-8)
    frequencies = np.bincount(result.tags(text), minlength=n_classes + 2)[2:]
    assert (np.diff(frequencies) <= 0).all()
    if n_classes >= len(text.vocabulary):
        assert len(set(result.classes.tolist())) == len(text.vocabulary)


def test_threads_do_not_matter_and_seeds_do():
    random = np.random.default_rng(0)
    sentences = [" ".join(f"w{n}" for n in random.zipf(1.2, 20) if n < 9000) for _ in range(4000)]
    text = Text.of(sentences)
    one = word_classes(text, 8, seed=3, runs=2, threads=1)
    many = word_classes(text, 8, seed=3, runs=2, threads=5)
    other = word_classes(text, 8, seed=4, runs=2, threads=1)
    assert len(text.vocabulary) > 4096  # more than one batch
    assert (one.classes == many.classes).all()
    assert (one.history == many.history).all()
    assert (one.classes != other.classes).any()
    assert (np.diff(one.history) >= 0).all()
