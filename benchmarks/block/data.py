"""The text of the experiment: sentence pairs with trees and some without, in separate files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from hyperbaton.corpus import Annotations, Bitext, Links, Tags, Text, Trees
from hyperbaton.corpus.files import read_lines, write_pieces

LAWS, GOLD, TREES = "twlaw-zh-en", "gold-links/zh-en-tsinghua", "trees"
UNKNOWN_TAG = "n"  # of words that no tag is known of: nouns, mostly


def prepare(data: Path, folder: Path, n_train: int, n_dev: int, n_test: int, n_gold: int) -> None:
    """Write train, dev and test (with trees, if there are any), the hand-aligned set, and text for a language model."""
    folder.mkdir(parents=True, exist_ok=True)
    tag_of: dict[str, str] = {}
    for split, n in (("train", n_train), ("dev", n_dev), ("test", n_test)):
        name = "devtest" if split == "test" else split
        laws = data / LAWS
        bitext = Bitext.read(laws / f"{name}.zh.xz", laws / f"{name}.en.xz", laws / f"{name}.links.xz")
        tags = Tags.read(laws / f"{name}.zh.pos.xz", bitext.source)
        trees = Trees.read(data / TREES / f"{LAWS}.{name}.trees.xz", bitext.source)
        parsed = np.flatnonzero(np.diff(trees.offsets))
        if split == "train":
            tag_of = _most_frequent_tags(bitext.source, tags)
            lengths = bitext.source.lengths
            others = np.setdiff1d(np.flatnonzero((lengths >= 5) & (lengths <= 40)), parsed)
            more = np.random.default_rng(1).permutation(others)[: max(n - len(parsed), 0)]
            chosen = np.sort(np.concatenate([parsed, more]))
            write_pieces(folder / "lm.en", bitext.target.pieces(np.arange(min(len(bitext), 100_000))))
        else:
            chosen = parsed[:n]
        _write(folder / split, bitext.select(chosen), tags.select(chosen), trees.select(chosen))
    gold = data / GOLD
    bitext = Bitext.read(gold / "gold.zh", gold / "gold.en", gold / "gold.sure.links", empty=True)
    first = np.arange(min(n_gold, len(bitext)))
    lines = [" ".join(tag_of.get(word, UNKNOWN_TAG) for word in sentence) for sentence in bitext.source]
    trees = Trees.read(gold / "gold.zh.tree", bitext.source)
    tagged = Tags.of(lines, bitext.source)
    _write(folder / "gold", bitext.select(first), tagged.select(first), trees.select(first))


def _most_frequent_tags(text: Text, tags: Tags) -> dict[str, str]:
    """The most frequent tag of each word."""
    n = len(tags.vocabulary)
    both, counts = np.unique(text.tokens.astype(np.int64) * n + tags.labels, return_counts=True)
    tag_of_word: dict[str, str] = {}
    best: Counter[int] = Counter()
    for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
        if count > best[pair // n]:
            best[pair // n] = count
            tag_of_word[text.vocabulary.word(pair // n)] = tags.vocabulary.word(pair % n)
    return tag_of_word


def _write(prefix: Path, bitext: Bitext, tags: Tags, trees: Trees) -> None:
    columns = {
        "zh": bitext.source.pieces(),
        "en": bitext.target.pieces(),
        "links": bitext.need_links().pieces(),
        "tags": tags.pieces(),
        "trees": trees.pieces(bitext.source),
    }
    for name, pieces in columns.items():
        write_pieces(prefix.with_name(f"{prefix.name}.{name}"), pieces)


class Part:
    """A part of the text, as lines and as columns."""

    def __init__(self, folder: Path, name: str) -> None:
        self.paths = {c: folder / f"{name}.{c}" for c in ("zh", "en", "links", "tags", "trees")}

    def lines(self, column: str) -> list[str]:
        return list(read_lines(self.paths[column]))

    def bitext(self) -> Bitext:
        return Bitext.read(self.paths["zh"], self.paths["en"], self.paths["links"], empty=True)

    def links(self, bitext: Bitext) -> Links:
        return Links.read(self.paths["links"], bitext.source, bitext.target)

    def known(self, bitext: Bitext) -> Annotations:
        """The tags and trees of the source."""
        files = {"source_tags": self.paths["tags"], "source_trees": self.paths["trees"]}
        return Annotations.read(files, bitext.source)
