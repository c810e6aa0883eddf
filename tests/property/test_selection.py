"""Sentences chosen by n-grams equal a plain choice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.corpus import Text, first_instances
from tests.oracles.selection import chosen_sentences

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=7), max_size=8)


@given(texts, st.lists(texts, max_size=2), st.integers(1, 3), st.integers(1, 6))
def test_the_first_instances_of_n_grams(
    text: list[list[str]], others: list[list[list[str]]], instances: int, longest: int
) -> None:
    first = first_instances(_text(text), [_text(other) for other in others], longest)
    assert np.flatnonzero(first <= instances).tolist() == chosen_sentences(text, others, instances, longest)


def _text(lines: list[list[str]]) -> Text:
    return Text.of([" ".join(words) for words in lines])
