"""N-best lists: those returned by a decoder, and their union so far.

Lists grow from iteration to iteration. A translation is new unless the sentence already has one with the same words and
the same features; the same words with other features are another candidate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from hyperbaton.base import numeric
from hyperbaton.base.arrays import CSR_LAYOUT, Array, csr_arrays, csr_of_arrays
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.store import Arrays, group
from hyperbaton.metrics import Metric

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Number of average sentences together with which a candidate is scored, for metrics that mean little for one sentence.
COMPANY = 9


class Candidates(NamedTuple):
    """Translations of sentences, grouped by sentence, the decoder's best first."""

    sentence: Ints  # (n,), not decreasing
    features: Floats  # (n, n_features)
    hypotheses: Sequence[str]
    sparse: csr_array | None = None  # (n, n_sparse), whose weights follow those of the features

    def select(self, chosen: npt.NDArray[np.bool_]) -> Candidates:
        """Some of the translations."""
        texts = [self.hypotheses[i] for i in np.flatnonzero(chosen).tolist()]
        rows = None if self.sparse is None else self.sparse[np.flatnonzero(chosen)]
        return Candidates(self.sentence[chosen], self.features[chosen], texts, rows)

    def moved(self, n_sentences: int) -> Candidates:
        """Translations in a text that has this many sentences before these."""
        return self._replace(sentence=self.sentence + n_sentences)


class Decode(Protocol):
    """A decoder: translates all sentences with weights, (n_features,)."""

    def __call__(self, weights: Floats) -> Candidates: ...


@dataclass(frozen=True)
class CandidateLists:
    """Candidates of all sentences, by columns; those of sentence s are the rows `offsets[s]` to `offsets[s + 1]`."""

    features: Floats  # (n, n_features)
    statistics: Floats  # (n, n_statistics)
    keys: npt.NDArray[np.uint64]  # of words and features together
    offsets: Ints
    sparse: csr_array | None = None  # (n, n_sparse)

    LAYOUT: ClassVar[Layout] = {
        "features": "f8 n n_features",
        "statistics": "f8 n n_statistics",
        "keys": "u8 n",
        "offsets": "i8 n_sentences+1",
        **within("sparse?", {**CSR_LAYOUT, "shape": "i8 2"}, n_rows="n"),
    }

    @classmethod
    def empty(cls, n_sentences: int, n_features: int) -> CandidateLists:
        """Empty lists."""
        return cls(np.zeros((0, n_features)), np.zeros((0, 0)), np.zeros(0, np.uint64), np.zeros(n_sentences + 1, np.int64))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.offsets) - 1

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of each candidate."""
        return np.repeat(np.arange(self.n_sentences), np.diff(self.offsets))

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each feature within lists, sparse ones last; 0 if it never differs within a list."""
        starts, sizes = self.offsets[:-1], np.diff(self.offsets)
        means = np.add.reduceat(self.features, starts, axis=0) / sizes[:, None]
        centred = self.features - np.repeat(means, sizes, axis=0)
        varies = np.maximum.reduceat(self.features, starts, axis=0) > np.minimum.reduceat(self.features, starts, axis=0)
        spread = np.where(varies.any(axis=0), np.sqrt((centred**2).mean(axis=0)), 0.0)
        if self.sparse is None:
            return spread
        sums = self._by_sentence.dot(self.sparse)  # a matrix of ones: each product is exact
        squares = np.asarray(self.sparse.multiply(self.sparse).sum(axis=0)).ravel()
        explained = np.asarray(sums.multiply(sums).multiply(1 / sizes[:, None]).sum(axis=0)).ravel()
        return np.concatenate([spread, np.sqrt(np.maximum(squares - explained, 0.0) / len(self))])

    @property
    def _by_sentence(self) -> csr_array:
        """A matrix that adds up the rows of each sentence, (n_sentences, n)."""
        n = len(self)
        return csr_array((np.ones(n), np.arange(n), self.offsets), shape=(self.n_sentences, n))

    @cached_property
    def n_lists(self) -> Ints:
        """The number of lists in which each sparse feature differs between candidates, (n_sparse,)."""
        if self.sparse is None:
            return np.zeros(0, np.int64)
        sizes = np.diff(self.offsets)
        both = self.sparse, self.sparse.multiply(self.sparse).tocsr()
        sums, squares = (self._by_sentence.dot(values) for values in both)
        varies = squares - sums.multiply(sums).multiply(1 / sizes[:, None])
        return np.asarray((varies > 1e-9).sum(axis=0)).ravel().astype(np.int64)

    def scores(self, weights: Floats) -> Floats:
        """The model score of each candidate."""
        n = self.features.shape[1]
        scores = numeric.product(self.features, weights[:n])
        return scores if self.sparse is None else scores + numeric.sparse_product(self.sparse, weights[n:])

    def is_new(self, nbest: Candidates) -> npt.NDArray[np.bool_]:
        """Which translations are new: neither in these lists nor earlier in their own."""
        return self._is_new(_keys(nbest))

    def _is_new(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        _, first = np.unique(keys, return_index=True)
        is_first = np.zeros(len(keys), bool)
        is_first[first] = True
        return is_first & ~np.isin(keys, self.keys)

    def with_new(self, nbest: Candidates, statistics: Floats) -> CandidateLists:
        """These lists with the new translations of others appended to each sentence's list."""
        keys = _keys(nbest)
        new = self._is_new(keys)
        sentence = np.concatenate([self.sentence, nbest.sentence[new]])
        order = np.argsort(sentence, kind="stable")
        before = self.statistics if len(self) else np.zeros((0, statistics.shape[1]))
        rows = nbest.sparse
        if rows is not None:
            rows = rows[np.flatnonzero(new)]
            rows = (rows if self.sparse is None else vstack([self.sparse, rows], format="csr"))[order]
        return CandidateLists(
            np.concatenate([self.features if len(self) else nbest.features[:0], nbest.features[new]])[order],
            np.concatenate([before, statistics[new]])[order],
            np.concatenate([self.keys, keys[new]])[order],
            np.searchsorted(sentence[order], np.arange(self.n_sentences + 1)).astype(np.int64),
            rows,
        )

    def best(self, scores: Floats) -> Ints:
        """The candidate of each sentence with the highest score; ties go to the first."""
        highest = np.maximum.reduceat(scores, self.offsets[:-1])
        among = np.flatnonzero(scores == highest[self.sentence])
        return among[np.searchsorted(self.sentence[among], np.arange(self.n_sentences))]

    def value(self, metric: Metric, weights: Floats) -> float:
        """The metric of the best candidates under these weights."""
        return float(metric.score(self.statistics[self.best(self.scores(weights))].sum(axis=0)))

    def gains(self, metric: Metric, weights: Floats, company: int = COMPANY) -> Floats:
        """The gain of each single candidate, higher is better, in points of the metric.

        A metric of one sentence is often 0 or means little. Here the candidate is scored together with `company`
        sentences like the average best candidate under these weights, and the score counts `company` + 1 times.
        """
        others = company * self.statistics[self.best(self.scores(weights))].mean(axis=0)
        gains = (company + 1) * metric.score(others + self.statistics)
        return gains if metric.higher_is_better else -gains

    def arrays(self) -> dict[str, Array]:
        """Everything as named arrays, for the store."""
        arrays = {"features": self.features, "statistics": self.statistics, "keys": self.keys, "offsets": self.offsets}
        if (rows := self.sparse) is not None:
            parts = {**csr_arrays(rows), "shape": np.array(rows.shape, np.int64)}
            arrays |= {f"sparse.{name}": part for name, part in parts.items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> CandidateLists:
        """The inverse of `arrays`."""
        features, statistics, keys, offsets = (
            np.array(arrays[name]) for name in ("features", "statistics", "keys", "offsets")
        )
        rows = group(arrays, "sparse")
        sparse = csr_of_arrays(rows, tuple(rows["shape"].tolist())) if rows else None
        return cls(features, statistics, keys, offsets, sparse)


def check_nbest(nbest: Candidates, n_sentences: int, n_features: int) -> None:
    """Raise InputError if a decoder's result cannot be used for tuning."""
    sentence = nbest.sentence
    n_sparse = 0 if nbest.sparse is None else nbest.sparse.shape[1]
    if nbest.features.shape != (len(sentence), n_features - n_sparse) or len(nbest.hypotheses) != len(sentence):
        raise InputError(f"the decoder returned {nbest.features.shape} features for {len(sentence)} translations")
    if len(sentence) and (np.diff(sentence) < 0).any():
        raise InputError("the decoder's translations are not in order of their sentences")
    missing = np.setdiff1d(np.arange(n_sentences), sentence)
    if len(missing) or len(sentence) == 0 or sentence[-1] >= n_sentences:
        at = int(missing[0]) + 1 if len(missing) else n_sentences + 1
        raise InputError(f"the decoder's translations do not match the references: see sentence {at}")
    broken = ~np.isfinite(nbest.features).all(axis=1)
    if broken.any():
        row = int(np.argmax(broken))
        column = int(np.argmin(np.isfinite(nbest.features[row])))
        raise InputError(f"feature {column + 1} of a translation of sentence {int(sentence[row]) + 1} is not finite")


def first_of_each(nbest: Candidates) -> Ints:
    """The decoder's best translation of each sentence."""
    return np.flatnonzero(np.diff(nbest.sentence, prepend=-1))


def _keys(nbest: Candidates) -> npt.NDArray[np.uint64]:
    """A hash of each translation by its sentence, words and features."""
    digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in nbest.hypotheses)
    keys = np.frombuffer(digests, "<u8").astype(np.uint64)
    # Sums of the same features in a different order differ in the last bits.
    rounded = (nbest.features + 0.0).astype(np.float32).view(np.uint32).astype(np.uint64)
    for column in (nbest.sentence.astype(np.uint64), *rounded.T):
        keys = (keys ^ (keys >> np.uint64(29)) ^ column) * np.uint64(0x9E3779B97F4A7C15)
    return keys
