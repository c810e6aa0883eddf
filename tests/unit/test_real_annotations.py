"""Annotations of real corpora fit their texts and round-trip. Skipped where the corpora are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Dependencies, Tags, Text, Trees, read_conllu
from hyperbaton.corpus.files import read_lines, read_pieces


def test_tags(corpora: Path) -> None:
    for text, tags in (
        ("twlaw-zh-en/dev.zh.xz", "twlaw-zh-en/dev.zh.pos.xz"),
        ("kyoto-ja-en/dev.ja.xz", "kyoto-ja-en/dev.ja.pos.xz"),
    ):
        labels = Tags.read(corpora / tags, Text.read(corpora / text))
        assert b"".join(labels.pieces()) == b"".join(read_pieces(corpora / tags))


def test_sparse_trees(corpora: Path) -> None:
    text = Text.read(corpora / "twlaw-zh-en/dev.zh.xz")
    path = corpora / "trees/twlaw-zh-en.dev.trees.xz"
    trees = Trees.read(path, text)
    parsed = np.flatnonzero(np.diff(trees.offsets))
    written = b"".join(trees.pieces(text, parsed)).decode().split("\n")[:-1]
    assert [f"{s + 1}\t{tree}" for s, tree in zip(parsed, written, strict=True)] == list(read_lines(path))


def test_trees_with_brackets_among_the_words(corpora: Path) -> None:
    folder = corpora / "gold-links/zh-en-tsinghua"
    text = Text.read(folder / "gold.zh")
    trees = Trees.read(folder / "gold.zh.tree", text)
    assert b"".join(trees.pieces(text)) == b"".join(read_pieces(folder / "gold.zh.tree"))


@pytest.mark.parametrize("language", ["zh", "ja", "en"])
def test_dependencies(corpora: Path, language: str) -> None:
    path = corpora / f"trees/ud-pud/{language}.conllu.xz"
    text, dependencies = read_conllu(path)
    assert len(text) == 1000
    assert np.count_nonzero(dependencies.heads < 0) == 1000  # one root each
    assert np.array_equal(Dependencies.read(path, text).heads, dependencies.heads)
