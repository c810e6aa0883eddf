"""What detokenizers of all languages do: the tokens, in order, with blanks between some of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.corpus.detokenizers import Detokenizer, unescaped

LANGUAGES = ("", "en", "de", "fr", "ja", "zh")
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


@pytest.fixture(params=LANGUAGES)
def detokenizer(request: pytest.FixtureRequest) -> Detokenizer:
    return Detokenizer(request.param)


@settings(max_examples=60)
@given(st.lists(TOKENS, max_size=8))
def test_text_is_the_tokens_with_blanks_between(tokens: list[str]) -> None:
    for language in LANGUAGES:
        detokenizer = Detokenizer(language)
        plain = [unescaped(token) for token in tokens]
        blanks, text = detokenizer.blanks(plain), detokenizer(tokens)
        assert len(blanks) == len(tokens) and all(isinstance(blank, bool) for blank in blanks)
        assert text.replace(" ", "") == "".join(plain) and text == text.strip() and "  " not in text
        assert text == detokenizer(tokens)  # nothing is remembered from one sentence to the next


def test_no_tokens_and_one(detokenizer: Detokenizer) -> None:
    assert detokenizer([]) == "" and detokenizer(["a"]) == "a" and detokenizer(["&#91;"]) == "["


def test_words_stay_apart(detokenizer: Detokenizer) -> None:
    assert detokenizer(["two", "words"]) == "two words"
