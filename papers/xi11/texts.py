"""The text of XI11: laws with and without trees, and news with hand-made links."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hyperbaton.corpus import Bitext, Tags, Text, Trees
from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from papers.corpora import TWLAW, existing, made_once
from papers.protocol import Setting

COLUMNS = ("source", "target", "links", "tags", "trees")
SPLITS = {"train": "train", "dev": "dev", "test": "devtest"}  # ours, and the corpus's
UNKNOWN_TAG = "n"  # for words without a known tag: mostly nouns


def law_files(data: Path) -> list[Path]:
    """The files of the laws."""
    return [file for split in SPLITS.values() for file in (*TWLAW.files(data, split).values(), _tree_file(data, split))]


def news_files(data: Path) -> list[Path]:
    """The files of the news: source, target, links, trees."""
    gold = data / "gold-links" / "zh-en-tsinghua"
    return [gold / name for name in ("gold.zh", "gold.en", "gold.sure.links", "gold.zh.tree")]


def _tree_file(data: Path, split: str) -> Path:
    return data / "trees" / f"{TWLAW.folder}.{split}.trees"


def text_folder(setting: Setting, n_train: int) -> Path:
    """The folder of the text's files, made once."""

    def write(folder: Path) -> None:
        if setting.data is None:
            _write_generated(folder, n_train, setting.seed)
        else:
            _write_corpora(setting.data, folder, n_train, setting.seed)

    return made_once(setting.output / "texts" / str(n_train), write)


def _write_generated(folder: Path, n_train: int, seed: int) -> None:
    for name, part in generate(n_train + 60, style="chinese", seed=seed).split(30, 30).items():
        text = part.bitext.source
        tags = Tags.of([" ".join(line) for line in part.source_tags], text)
        trees = Trees.of([" ".join(line) for line in part.source_trees], text)
        _write(folder / name, part.bitext, tags, trees)


def _write_corpora(data: Path, folder: Path, n_train: int, seed: int) -> None:
    """Sentence pairs with trees, filled up with others without, and news with hand-made links."""
    word_tags: dict[str, str] = {}
    for name, split in SPLITS.items():
        columns = TWLAW.columns(data, split)
        bitext = Bitext.read(columns["source"], columns["target"], columns["links"])
        tags = Tags.read(columns["tags"], bitext.source)
        trees = Trees.read(existing(_tree_file(data, split)), bitext.source)
        chosen = np.flatnonzero(np.diff(trees.offsets))
        if name == "train":
            word_tags = _most_frequent_tags(bitext.source, tags)
            lengths = bitext.source.lengths
            others = np.setdiff1d(np.flatnonzero((lengths >= 5) & (lengths <= 40)), chosen)
            more = np.random.default_rng(seed).permutation(others)[: max(n_train - len(chosen), 0)]
            chosen = np.sort(np.concatenate([chosen[:n_train], more]))
        _write(folder / name, bitext.select(chosen), tags.select(chosen), trees.select(chosen))
    source, target, links, tree_file = news_files(data)
    if source.parent.is_dir():
        bitext = Bitext.read(existing(source), existing(target), existing(links), empty=True)
        lines = [" ".join(word_tags.get(word, UNKNOWN_TAG) for word in sentence) for sentence in bitext.source]
        trees = Trees.read(existing(tree_file), bitext.source)
        _write(folder / "news", bitext, Tags.of(lines, bitext.source), trees)


def _most_frequent_tags(text: Text, tags: Tags) -> dict[str, str]:
    """The most frequent tag of each word."""
    n = len(tags.vocabulary)
    both, counts = np.unique(text.tokens.astype(np.int64) * n + tags.labels, return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent one is written last
    return {text.vocabulary.word(pair // n): tags.vocabulary.word(pair % n) for pair in both[order].tolist()}


def _write(prefix: Path, bitext: Bitext, tags: Tags, trees: Trees) -> None:
    columns = {
        "source": bitext.source.pieces(),
        "target": bitext.target.pieces(),
        "links": bitext.need_links().pieces(),
        "tags": tags.pieces(),
        "trees": trees.pieces(bitext.source),
    }
    for name, pieces in columns.items():
        write_pieces(prefix.with_name(f"{prefix.name}.{name}"), pieces)
