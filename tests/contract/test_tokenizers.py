"""The contract of tokenizers: one line for each line, tokens that the text reader accepts, matching tags."""

from __future__ import annotations

import builtins
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.base.errors import HyperbatonError, MissingExtra, installing
from hyperbaton.corpus import Tags, Text
from hyperbaton.corpus import raw as raw_module
from hyperbaton.corpus.raw import RawLines, tokenize
from hyperbaton.corpus.tokenizers import TOKENIZERS, Tokenizer, make_tokenizer

NAMES = TOKENIZERS.names()
made: dict[str, Tokenizer] = {}


def tokenizer(name: str) -> Tokenizer:
    if name not in made:
        made[name] = make_tokenizer(name)
    return made[name]


pieces = st.sampled_from(
    [
        *[
            "他喜欢",
            "米饭",
            "。",
            "食べた",
            "ご飯",
            "it's",
            "U.S.",
            "l'an",
            " ",
            "  ",
            "　",
            "\u00a0",
            "|||",
            "||",
            "|",
            "(",
        ],
        *["&", "<b>", "[x]", "3.5%", "1,000", "...", "a-b", "é", "e\u0301", "😀", "\ufeff", "\u2028", "\x85", "\u200b"],
    ]
)
lines = st.lists(
    st.one_of(
        st.lists(pieces, max_size=8).map("".join),
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
    ),
    max_size=4,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(lines)
def test_every_line_becomes_one_sound_line(name: str, lines: list[str]) -> None:
    blocks = list(tokenize(lines, tokenizer(name)))
    tokens = b"".join(block for block, _ in blocks).decode()
    tags = b"".join(block for _, block in blocks).decode()
    assert tokens.count("\n") == len(lines)
    text = Text.of(tokens.split("\n")[:-1])
    for line, sentence in zip(lines, text, strict=True):
        assert all(token and not any(c.isspace() for c in token) and "|||" not in token for token in sentence)
        assert bool(line.strip()) >= bool(sentence)
    if TOKENIZERS[name].has_tags:
        Tags.of(tags.split("\n")[:-1], text)
    else:
        assert not tags.strip()


def test_words_and_tags() -> None:
    assert tokenizer("jieba")("他喜欢吃米饭。") == (["他", "喜欢", "吃", "米饭", "。"], ["r", "v", "v", "n", "x"])
    assert tokenizer("fugashi")("私は食べた。") == (
        ["私", "は", "食べ", "た", "。"],
        ["代名詞", "助詞-係助詞", "動詞-一般", "助動詞", "補助記号-句点"],
    )
    assert make_tokenizer("sacremoses", "fr")("l'an [1]")[0] == ["l'", "an", "[", "1", "]"]
    escaped = make_tokenizer("sacremoses", "fr", escapes=True)
    assert escaped("l'an [1]")[0] == ["l&apos;", "an", "&#91;", "1", "&#93;"]
    assert tokenizer("none")(" a  b|||c ")[0] == ["a", "b&#124;&#124;&#124;c"]


def test_several_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_module, "CHUNK", 3)
    lines = [f"it's line {i}" for i in range(10)]
    once = list(tokenize(lines, make_tokenizer("sacremoses")))
    assert len(once) == 4 and once == list(tokenize(lines, make_tokenizer("sacremoses"), n_processes=2))


@pytest.mark.parametrize(("name", "extra"), [("sacremoses", "european"), ("jieba", "chinese"), ("fugashi", "japanese")])
def test_missing_library(monkeypatch: pytest.MonkeyPatch, name: str, extra: str) -> None:
    really_import = builtins.__import__

    def without(module: str, *rest: Any, **named: Any) -> Any:
        if module == name:
            raise fault
        return really_import(module, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    fault: ImportError = ModuleNotFoundError(f"No module named {name!r}", name=name)
    with pytest.raises(MissingExtra, match=rf"{name}.* is not installed: {re.escape(installing(extra))}"):
        list(tokenize(["x"], make_tokenizer(name)))
    for fault in (ModuleNotFoundError("No module named 'click'", name="click"), ImportError("lib.so: wrong ELF class")):
        with pytest.raises(HyperbatonError, match=rf"{name}.* is installed but cannot be imported \({fault}\)"):
            list(tokenize(["x"], make_tokenizer(name)))


def test_jieba_is_silent_and_leaves_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert make_tokenizer("jieba")("米饭")[0] == ["米饭"]
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_raw_lines(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"\xef\xbb\xbfa\tb\r\n\xff\nc")
    lines = RawLines(path, repair=True)
    assert list(lines) == ["a b ", "", "c"]
    assert lines.faults.lines.tolist() == [1]
