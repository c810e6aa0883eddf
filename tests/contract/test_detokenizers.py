"""The contract of detokenizers: the tokens, in order, with blanks between some of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.corpus.detokenizers import DETOKENIZERS, Detokenizer, unescaped

TOKENS = st.sampled_from(
    [
        *[
            "the",
            "haus",
            "l'",
            "'s",
            "n't",
            '"',
            "'",
            "(",
            ")",
            ",",
            ".",
            "...",
            "3",
            "1,000",
            "%",
            "$",
            "-",
            "–",
            "@-@",
            "/",
        ],
        *["&quot;", "&apos;s", "&amp;", "&#124;", "彼", "は", "。", "iPhone", "é", "😀", "&uuml;", "„", "“"],
    ]
)


@pytest.fixture(params=list(DETOKENIZERS))
def detokenizer(request: pytest.FixtureRequest) -> Detokenizer:
    return DETOKENIZERS[request.param]()


@settings(max_examples=60)
@given(st.lists(TOKENS, max_size=8))
def test_text_is_the_tokens_with_blanks_between(tokens: list[str]) -> None:
    for name in DETOKENIZERS:
        detokenizer = DETOKENIZERS[name]()
        plain = [unescaped(token) for token in tokens]
        blanks, text = detokenizer.blanks(plain), detokenizer(tokens)
        assert len(blanks) == len(tokens) and all(isinstance(blank, bool) for blank in blanks)
        assert text.replace(" ", "") == "".join(plain) and text == text.strip() and "  " not in text
        assert text == detokenizer(tokens)  # nothing is remembered from one sentence to the next


def test_no_tokens_and_one(detokenizer: Detokenizer) -> None:
    assert detokenizer([]) == "" and detokenizer(["a"]) == "a" and detokenizer(["&#91;"]) == "["


def test_words_stay_apart(detokenizer: Detokenizer) -> None:
    assert detokenizer(["two", "words"]) == "two words"
