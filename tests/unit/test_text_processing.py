"""Sides of raw text: where sentences end, detokenizers, and letter case."""

from __future__ import annotations

import pytest

from hyperbaton.base.store import group
from hyperbaton.corpus import Text
from hyperbaton.corpus.casing import Casing
from hyperbaton.corpus.detokenizers import Detokenizer
from hyperbaton.corpus.processing import TextSide
from hyperbaton.corpus.sentences import split_sentences


@pytest.mark.parametrize(
    ("language", "text", "n"),
    [
        ("en", "Mr. J. Smith paid $3.5 m. He left. (Why?) Nobody knows", 4),
        ("en", "He said: wait... and went on, e.g. to Rome. Then home.", 2),
        ("de", "Am 3. Mai kam z.B. Dr. Meier. „Gut.“ Er ging!", 3),
        ("ar", "أين أنت؟ أنا هنا. نعم!", 3),
        ("zh", "他来了。她走了！“真的？”他问。", 3),
        ("ja", "「本当？」と彼は聞いた。はい。", 2),
    ],
)
def test_sentences_end_where_they_do(language: str, text: str, n: int) -> None:
    sentences = split_sentences(text, language)
    assert len(sentences) == n, sentences
    assert "".join(sentences).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        (
            "en",
            "&quot; It &apos;s the dogs ' $ 3.50 bone ( 50 % ) , &quot; he said .",
            "\"It's the dogs' $3.50 bone (50%),\" he said.",
        ),
        ("en", "five o &apos;clock : 1990 - 2000 , and / or", "five o'clock: 1990-2000, and/or"),
        ("de", "„ Ja “ , sagte er ; „ nein ! “", "„Ja“, sagte er; „nein!“"),
        ("ar", "أين أنت ؟ ( هنا ) ، نعم", "أين أنت؟ (هنا)، نعم"),
        ("ja", "彼 は New York で 3 冊 買っ た 。", "彼はNew Yorkで3冊買った。"),
        ("zh", "我 用 Python 3.11 写 “ Hello , world ” 。", "我用Python 3.11写“Hello, world”。"),
    ],
)
def test_detokenizers(language: str, tokens: str, text: str) -> None:
    assert Detokenizer(language)(tokens.split()) == text


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (
            "en:tokenizer=sacremoses",
            "He said: \"It's 5 o'clock (at last).\" Mr. Smith's dogs' bones cost $3.50, i.e. too much!",
        ),
        ("de:tokenizer=sacremoses", 'Am 3. Mai kam Frau Müller-Lüdenscheidt; sie sagte: "Geht\'s?"'),
        ("ar:tokenizer=sacremoses", "هل أنت طالب؟ نعم، أنا طالب."),
        ("ja:tokenizer=fugashi", "彼は昨日、東京駅でiPhone 15を2台買った（らしい）。"),
        ("zh:tokenizer=jieba", "他昨天在北京买了2台iPhone 15（据说）。"),
    ],
)
def test_raw_text_comes_back(side: str, text: str) -> None:
    made = TextSide.parse(side)
    assert Detokenizer(made.language)(made.as_trained(made.make_tokenizer()(text)[0])) == text


def test_truecasing_learns_inside_sentences() -> None:
    casing = Casing.learn(
        Text.of(["The Bank is in Rome", "Then the bank closed", "A bank .", "WE ARE IN ROME", "“ The bank ”"])
    )
    assert casing.truecase(["“", "Bank", "Of", "Rome", "”", ".", "The", "end"]) == [
        "“",
        "bank",
        "Of",
        "Rome",
        "”",
        ".",
        "the",
        "end",
    ]
    assert casing.truecase(["Unknown", "Rome"]) == ["Unknown", "Rome"]
    assert Casing.from_arrays(group(casing.arrays("x"), "x")) == casing
