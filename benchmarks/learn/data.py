"""Rows to measure learners on: generated in any size, read from a file, or made from a bitext.

A row is one moved word or phrase; its features are binary; its cluster is what NI11 trains a sub-model for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from hyperbaton.corpus.bitext import Bitext
from hyperbaton.learn import BinaryRows

# Lower ends of the classes of d = previous + 1 − first: three and five classes as in NI11 §2.1.
CUTS = {3: [0, 1], 5: [-4, 0, 1, 5]}


@dataclass(frozen=True)
class Data:
    """Rows with labels 0…n_classes - 1 and clusters 0…n_clusters - 1."""

    rows: BinaryRows
    labels: np.ndarray
    clusters: np.ndarray
    n_classes: int

    def __len__(self) -> int:
        return len(self.labels)

    def select(self, chosen: np.ndarray) -> Data:
        """The rows where the mask is set."""
        lengths = np.diff(self.rows.indptr)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        indices = self.rows.indices[np.repeat(chosen, lengths)]
        rows = BinaryRows(starts, indices, self.rows.n_features)
        return Data(rows, self.labels[chosen], self.clusters[chosen], self.n_classes)

    def split(self, part: float = 0.1, seed: int = 0) -> tuple[Data, Data]:
        """Rows to train on, and rows held out."""
        held_out = np.random.default_rng(seed).random(len(self)) < part
        return self.select(~held_out), self.select(held_out)

    def matrix(self) -> sparse.csr_matrix:
        """The rows as scikit-learn wants them."""
        rows = self.rows
        # liblinear inside scikit-learn takes offsets of 32 bits only.
        starts = rows.indptr.astype(np.int32)
        return sparse.csr_matrix((np.ones(len(rows.indices)), rows.indices, starts), shape=rows.shape)

    def save(self, folder: Path) -> None:
        """Write plain arrays, to be mapped into memory."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in (
            ("indptr", self.rows.indptr),
            ("indices", self.rows.indices),
            ("labels", self.labels),
            ("clusters", self.clusters),
            ("shape", np.array([self.rows.n_features, self.n_classes])),
        ):
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def load(cls, folder: Path) -> Data:
        """The inverse of `save`."""
        names = ("indptr", "indices", "labels", "clusters", "shape")
        indptr, indices, labels, clusters, shape = (np.load(folder / f"{n}.npy", mmap_mode="r") for n in names)
        return cls(BinaryRows(indptr, indices, int(shape[0])), labels, clusters, int(shape[1]))

    @classmethod
    def read(cls, file: Path) -> Data:
        """Rows from a file of `numpy.savez`: indptr, indices, n_features, labels, and clusters if there are any."""
        with np.load(file) as arrays:
            labels = arrays["labels"].astype(np.int32)
            clusters = arrays["clusters"] if "clusters" in arrays else np.zeros(len(labels), np.int64)
            rows = BinaryRows(
                arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int32), int(arrays["n_features"])
            )
        return cls(rows, labels, clusters.astype(np.int64), int(labels.max()) + 1)


def _pack(keys: np.ndarray, row_of: np.ndarray, n_rows: int, min_count: int) -> BinaryRows:
    """Rows from (row, feature key) pairs, keeping the keys that occur often enough, numbered by size."""
    known, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
    often = counts >= min_count
    new = np.cumsum(often) - 1
    keep = often[number]
    row_of, number = row_of[keep], new[number[keep]]
    pairs = np.unique(row_of.astype(np.int64) * len(known) + number)
    row_of, number = np.divmod(pairs, len(known))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=n_rows))])
    return BinaryRows(indptr.astype(np.int64), number.astype(np.int32), int(often.sum()))


def generate(n_rows: int, n_classes: int = 3, per_row: int = 14, n_words: int = 20_000, seed: int = 0) -> Data:
    """Rows like those of a corpus: words by Zipf's law in a few slots, classes of uneven size, a cluster for each word.

    The first slot is the word itself, which is the cluster. A class is drawn from a log-linear model of the words, so
    that the best possible error is well above zero, as in real data.
    """
    rng = np.random.default_rng(seed)
    words = np.minimum(rng.zipf(1.3, size=(n_rows, per_row)), n_words) - 1
    slots = np.arange(per_row) * n_words
    effects = (
        rng.normal(size=(per_row * n_words, n_classes))
        * np.where(np.arange(per_row) < 4, 1.2, 0.25).repeat(n_words)[:, None]
    )
    scores = -2.0 * np.abs(np.arange(n_classes) - n_classes // 2)[None, :] / n_classes
    scores = scores + sum(effects[words[:, s] + slots[s]] for s in range(per_row))
    labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1).astype(np.int32)
    keys = (words + slots).ravel()
    rows = _pack(keys, np.repeat(np.arange(n_rows), per_row), n_rows, min_count=2)
    _, clusters = np.unique(words[:, 0], return_inverse=True)
    return Data(rows, labels, clusters.astype(np.int64), n_classes)


def from_bitext(bitext: Bitext, n_classes: int = 3, window: int = 3, min_count: int = 3) -> Data:
    """One row for each linked target word: where does its source word lie from the one before?

    Features: the source word, its neighbours by offset, the target word. The cluster is the source word.
    """
    source, target, links = bitext.source, bitext.target, bitext.links
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    i, j = links.points.T.astype(np.int64)
    word = target.offsets[sentence] + j
    order = np.lexsort((i, word))
    i, word, sentence = i[order], word[order], sentence[order]
    first = np.flatnonzero(np.diff(word, prepend=-1))
    last = np.append(first[1:], len(word)) - 1
    # The largest source position of the linked target word before, −1 at the start of a sentence.
    previous = np.concatenate([[-1], i[last[:-1]]])
    previous[np.flatnonzero(np.diff(sentence[first], prepend=-1))] = -1
    at, where, sentence = i[first], word[first], sentence[first]
    labels = np.searchsorted(CUTS[n_classes], previous + 1 - at, side="right").astype(np.int32)

    n_source = len(source.vocabulary) + 2
    tokens, starts, lengths = source.tokens, source.offsets[sentence], source.lengths[sentence]
    keys = []
    for offset in range(-window, window + 1):
        position = at + offset
        inside = (position >= 0) & (position < lengths)
        neighbour = np.where(inside, tokens[np.clip(starts + position, 0, len(tokens) - 1)].astype(np.int64), -1)
        neighbour = np.where(position < 0, n_source - 1, np.where(inside, neighbour, n_source - 2))
        keys.append(neighbour + (offset + window) * n_source)
    keys.append(target.tokens[where].astype(np.int64) + (2 * window + 1) * n_source)
    rows = _pack(np.stack(keys, axis=1).ravel(), np.repeat(np.arange(len(at)), len(keys)), len(at), min_count)
    _, clusters = np.unique(tokens[starts + at], return_inverse=True)
    return Data(rows, labels, clusters.astype(np.int64), n_classes)
