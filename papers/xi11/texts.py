"""The text of XI11: laws with and without trees, and news with hand-made links.

Training sentences are those with trees, filled up with others that share n-grams with the texts to tune on and to test.
Tags are those of the trees. Words of sentences without a tree get the tag that they most often have in trees, new words
the one that goes most often with their tag in the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.corpus import Bitext, Tags, Text, Trees, first_instances
from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from papers.corpora import TWLAW, Ints, existing, made_once
from papers.protocol import Setting

TEXTS = {"laws": "laws of Taiwan", "news": "news, hand-made links"}  # to test
TRAINING = "trees, then n-grams of the tests"  # how the training sentences are chosen
COLUMNS = ("source", "target", "links", "tags", "trees")
SPLITS = {"train": "train", "dev": "dev", "test": "devtest"}  # ours, and the corpus's
NEWS = ("gold.zh", "gold.en", "gold.sure.links", "gold.possible.links", "gold.zh.tree")


def text_files(data: Path) -> list[Path]:
    """The files of the laws, and of the news, whose n-grams choose training sentences too."""
    laws = [file for split in SPLITS.values() for file in (*TWLAW.files(data, split).values(), _tree_file(data, split))]
    return [*laws, *news_files(data)]


def news_files(data: Path) -> list[Path]:
    """The files of the news: source, target, sure and possible links, trees."""
    return [data / "gold-links" / "zh-en-tsinghua" / name for name in NEWS]


def _tree_file(data: Path, split: str) -> Path:
    return data / "trees" / f"{TWLAW.folder}.{split}.trees"


@dataclass(frozen=True)
class Part:
    """Sentence pairs with links, tags and trees; a sentence without a tree has an empty one."""

    bitext: Bitext
    tags: Tags
    trees: Trees

    @classmethod
    def read(cls, prefix: Path) -> Part:
        """Read what `write` wrote."""
        source, target, links, tags, trees = (f"{prefix}.{column}" for column in COLUMNS)
        bitext = Bitext.read(source, target, links, empty=True)
        return cls(bitext, Tags.read(tags, bitext.source), Trees.read(trees, bitext.source))

    def select(self, sentences: Ints) -> Part:
        """Some of the sentence pairs."""
        return Part(self.bitext.select(sentences), self.tags.select(sentences), self.trees.select(sentences))

    def with_trees(self) -> Part:
        """The sentence pairs with trees."""
        return self.select(np.flatnonzero(np.diff(self.trees.offsets)))

    def write(self, prefix: Path) -> None:
        """Write each column to a file."""
        columns = {
            "source": self.bitext.source.pieces(),
            "target": self.bitext.target.pieces(),
            "links": self.bitext.need_links().pieces(),
            "tags": self.tags.pieces(),
            "trees": self.trees.pieces(self.bitext.source),
        }
        for name, pieces in columns.items():
            write_pieces(prefix.with_name(f"{prefix.name}.{name}"), pieces)


def text_folder(setting: Setting, n_train: int) -> Path:
    """The folder of the text's files, made once."""

    def write(folder: Path) -> None:
        if setting.data is None:
            _write_generated(folder, n_train, setting.seed)
        else:
            _write_corpora(setting.data, folder, n_train)

    return made_once(setting.output / "texts" / f"matching-{n_train}", write)


def _write_generated(folder: Path, n_train: int, seed: int) -> None:
    for name, part in generate(n_train + 60, style="chinese", seed=seed).split(30, 30).items():
        text = part.bitext.source
        tags = Tags.of([" ".join(line) for line in part.source_tags], text)
        trees = Trees.of([" ".join(line) for line in part.source_trees], text)
        Part(part.bitext, tags, trees).write(folder / name)


def _write_corpora(data: Path, folder: Path, n_train: int) -> None:
    """All columns of each split, and news with hand-made links."""
    laws = {name: _read_laws(data, split) for name, split in SPLITS.items()}
    source, target, links, _, tree_file = news_files(data)
    bitext = Bitext.read(existing(source), existing(target), existing(links), empty=True)
    trees = Trees.read(existing(tree_file), bitext.source)
    others = {"dev": laws["dev"].with_trees(), "test": laws["test"].with_trees()}
    others["news"] = Part(bitext, tree_tags(bitext.source, trees), trees)
    chosen = training_sentences(laws["train"], [part.bitext.source for part in others.values()], n_train)
    for name, part in {"train": laws["train"].select(chosen), **others}.items():
        part.write(folder / name)


def _read_laws(data: Path, split: str) -> Part:
    columns = TWLAW.columns(data, split)
    bitext = Bitext.read(columns["source"], columns["target"], columns["links"])
    trees = Trees.read(existing(_tree_file(data, split)), bitext.source)
    return Part(bitext, tree_tags(bitext.source, trees, Tags.read(columns["tags"], bitext.source)), trees)


def training_sentences(laws: Part, others: Sequence[Text], n_train: int) -> Ints:
    """Sentences with trees, then those of 5 to 40 words with the first instances of n-grams of other texts."""
    lengths, has_tree = laws.bitext.source.lengths, np.diff(laws.trees.offsets) > 0
    usable = np.flatnonzero(has_tree | ((lengths >= 5) & (lengths <= 40)))
    best_first = usable[np.argsort(~has_tree[usable], kind="stable")]
    instances = first_instances(laws.bitext.source.select(best_first), others)
    ranked: Ints = best_first[np.lexsort((instances, ~has_tree[best_first]))]
    return np.sort(ranked[:n_train])


def tree_tags(text: Text, trees: Trees, others: Tags | None = None) -> Tags:
    """The tags of the trees, or for words without a tree likely ones, given other tags.

    >>> text = Text.of(["he eats", "he drinks"])
    >>> trees = Trees.of(["(S (NP (PN he)) (VP (VV eats)))", ""], text)
    >>> tree_tags(text, trees, Tags.of(["r v", "r v"], text))[1]
    ['PN', 'VV']
    """
    leaves = np.flatnonzero(trees.ends - trees.begins == 1)
    sentence = np.repeat(np.arange(len(text)), np.diff(trees.offsets))[leaves]
    labels = np.full(text.n_tokens, -1)
    labels[text.offsets[sentence] + trees.begins[leaves]] = trees.labels[leaves]  # the lowest node comes last
    known = labels >= 0
    if not known.all():
        likely = np.full(text.n_tokens, np.bincount(labels[known]).argmax())
        if others is not None:
            by_tag = _most_frequent(others.labels, labels, known, len(others.vocabulary))
            likely = np.where(by_tag >= 0, by_tag, likely[0])[others.labels]
        by_word = _most_frequent(text.tokens, labels, known, len(text.vocabulary))[text.tokens]
        labels = np.where(known, labels, np.where(by_word >= 0, by_word, likely))
    return Tags(labels.astype(np.uint16), text.offsets, trees.vocabulary)


def _most_frequent(keys: npt.NDArray[np.unsignedinteger], labels: Ints, known: npt.NDArray[np.bool_], n: int) -> Ints:
    """The most frequent of the known labels of each of n keys, −1 if it has none."""
    n_labels = int(labels.max(initial=0)) + 1
    both, counts = np.unique(keys[known].astype(np.int64) * n_labels + labels[known], return_counts=True)
    order = np.argsort(counts, kind="stable")  # the most frequent one is written last
    best = np.full(n, -1)
    best[both[order] // n_labels] = both[order] % n_labels
    return best
