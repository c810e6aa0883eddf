"""Rows to measure learners on: generated in any size, read from a file, or the orientation samples of a bitext.

A row is one phrase pair with binary features; its cluster is the source phrase, for each of which NI11 trains a sub-model.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from hyperbaton.corpus import Bitext
from hyperbaton.features import FEATURES
from hyperbaton.learn import Rows
from hyperbaton.phrases import Occurrences, extract, near_samples, orientation_set


@dataclass(frozen=True)
class Data:
    """Rows with labels 0…n_classes - 1, clusters 0…n_clusters - 1, and the sentence that each row comes from."""

    rows: Rows
    labels: np.ndarray
    clusters: np.ndarray
    sentences: np.ndarray
    n_classes: int

    def __len__(self) -> int:
        return len(self.labels)

    def select(self, chosen: np.ndarray) -> Data:
        """The rows where the mask is set."""
        lengths = np.diff(self.rows.indptr)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        indices = self.rows.indices[np.repeat(chosen, lengths)]
        rows = Rows(starts, indices, self.rows.n_features)
        return Data(rows, self.labels[chosen], self.clusters[chosen], self.sentences[chosen], self.n_classes)

    def split(self, part: float = 0.1, seed: int = 0) -> tuple[Data, Data]:
        """Training rows and held-out rows, split by sentence, since phrase pairs of one sentence overlap."""
        held_out = (np.random.default_rng(seed).random(int(self.sentences.max()) + 1) < part)[self.sentences]
        return self.select(~held_out), self.select(held_out)

    def matrix(self) -> sparse.csr_matrix:
        """The rows in scikit-learn's form."""
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
            ("sentences", self.sentences),
            ("shape", np.array([self.rows.n_features, self.n_classes])),
        ):
            np.save(folder / f"{name}.npy", array)

    @classmethod
    def load(cls, folder: Path) -> Data:
        """The inverse of `save`."""
        names = ("indptr", "indices", "labels", "clusters", "sentences", "shape")
        indptr, indices, labels, clusters, sentences, shape = (np.load(folder / f"{n}.npy", mmap_mode="r") for n in names)
        return cls(Rows(indptr, indices, int(shape[0])), labels, clusters, sentences, int(shape[1]))

    @classmethod
    def read(cls, file: Path) -> Data:
        """Rows from a file of `numpy.savez`: indptr, indices, n_features, labels; clusters, sentences if known."""
        with np.load(file) as arrays:
            labels = arrays["labels"].astype(np.int32)
            clusters = arrays["clusters"] if "clusters" in arrays else np.zeros(len(labels), np.int64)
            sentences = arrays["sentences"] if "sentences" in arrays else np.arange(len(labels))
            rows = Rows(arrays["indptr"].astype(np.int64), arrays["indices"].astype(np.int32), int(arrays["n_features"]))
        return cls(rows, labels, clusters.astype(np.int64), sentences, int(labels.max()) + 1)


def _pack(keys: np.ndarray, row_of: np.ndarray, n_rows: int, min_count: int) -> Rows:
    """Rows from (row, feature key) pairs, keeping the keys that are frequent enough, numbered in increasing order."""
    known, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
    often = counts >= min_count
    new = np.cumsum(often) - 1
    keep = often[number]
    row_of, number = row_of[keep], new[number[keep]]
    pairs = np.unique(row_of.astype(np.int64) * len(known) + number)
    row_of, number = np.divmod(pairs, len(known))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=n_rows))])
    return Rows(indptr.astype(np.int64), number.astype(np.int32), int(often.sum()))


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
    return Data(rows, labels, clusters.astype(np.int64), np.arange(n_rows), n_classes)


def from_bitext(
    bitext: Bitext, features: str = "aligned_words", orientations: str = "three", min_count: int = 10, max_length: int = 7
) -> Data:
    """The phrase pairs of a bitext with their orientations, in the form for a global model (AL14 §4)."""
    samples = near_samples(extract(bitext, max_length), 15)
    occurrences, kind = Occurrences.of_samples(bitext, samples), orientation_set(orientations)
    labels = kind.classify(samples, "before")
    encoded = FEATURES[features](min_count=min_count).fit(occurrences, labels, len(kind.names))
    _, clusters = np.unique(occurrences.source_keys(), return_inverse=True)
    rows = Rows(encoded.indptr, encoded.indices, encoded.n_features)
    return Data(rows, labels.astype(np.int32), clusters, samples.sentence.astype(np.int64), len(kind.names))
