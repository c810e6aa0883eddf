"""Lines of text as arrays of word numbers, and the n-grams in them, without a loop over words in Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import default_threads

Ints = npt.NDArray[np.int64]


class NumberedText(NamedTuple):
    """Sentences of word numbers: sentence s is `words[offsets[s]:offsets[s + 1]]`."""

    words: npt.NDArray[np.uint32]
    offsets: Ints

    @property
    def core_tokens(self) -> _core.Tokens:
        return _core.Tokens(words=self.words, offsets=self.offsets)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)


def number_words(*texts: Sequence[str]) -> list[NumberedText]:
    """Number the words of several texts by one numbering.

    >>> [found.words.tolist() for found in number_words(["a b a"], ["b", "c"])]
    [[0, 1, 0], [1, 2]]
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    numbered = []
    for text in texts:
        sentences = [line.split() for line in text]
        offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
        each = map(numbers.__getitem__, chain.from_iterable(sentences))
        numbered.append(NumberedText(np.fromiter(each, np.uint32, int(offsets[-1])), offsets))
    return numbered


def edits_of(
    count: Callable[..., Ints], hypotheses: NumberedText, references: Sequence[NumberedText], line: Ints
) -> list[Ints]:
    """Edits that turn hypotheses into each of the references, or other counts of the two, by a function of the core.

    Hypothesis h belongs to line `line[h]` of the references.
    """
    return [
        count(
            hypotheses=hypotheses.core_tokens,
            references=reference.core_tokens,
            line=line,
            n_threads=default_threads(),
        )
        for reference in references
    ]


@dataclass(frozen=True)
class NGrams:
    """N-grams of one length: for each text the sentence and the number of every occurrence.

    `prefix` is the number of each n-gram without its last word, among the n-grams one shorter.
    """

    sentence: list[Ints]
    number: list[Ints]
    prefix: Ints

    @property
    def n_kinds(self) -> int:
        return len(self.prefix)


def all_ngrams(texts: Sequence[NumberedText], max_order: int) -> list[NGrams]:
    """The n-grams of texts that were numbered together, for n = 1 … max_order.

    >>> two = all_ngrams(number_words(["a b a b"], ["b a"]), 2)[1]
    >>> [numbers.tolist() for numbers in two.number], two.prefix.tolist()
    ([[0, 1, 0], [1]], [0, 1])
    """
    words = [text.words.astype(np.int64) for text in texts]
    owner = [np.repeat(np.arange(len(text.lengths)), text.lengths) for text in texts]
    n_words = 1 + max((int(w.max()) for w in words if len(w)), default=0)
    by_order = [NGrams(owner, words, np.zeros(n_words, np.int64))]
    for n in range(2, max_order + 1):
        shorter = by_order[-1]
        sentence, keys = [], []
        for w, s, ids in zip(words, owner, shorter.number, strict=True):
            # An n-gram starts where one of n - 1 words starts whose next word is of the same sentence.
            starts = np.flatnonzero(s[: max(len(s) - n + 1, 0)] == s[n - 1 :])
            before = ids[_places(s, n - 1, starts)]
            sentence.append(s[starts])
            keys.append(before * n_words + w[starts + n - 1])
        kinds, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        ends = np.cumsum([len(k) for k in keys])[:-1]
        by_order.append(NGrams(sentence, np.split(inverse.astype(np.int64), ends), kinds // n_words))
    return by_order


def _places(sentence: Ints, n: int, starts: Ints) -> Ints:
    """Where, among the occurrences of n-grams, those that start at these words are."""
    if n == 1:
        return starts
    begins = np.zeros(len(sentence), bool)
    begins[: max(len(sentence) - n + 1, 0)] = sentence[: max(len(sentence) - n + 1, 0)] == sentence[n - 1 :]
    return (np.cumsum(begins) - 1)[starts]


def clipped_matches(ngrams: NGrams, line: Ints, weight: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
    """For each sentence of the first text, its n-grams that the other texts have too.

    Sentence h is compared with sentence `line[h]` of the others; an n-gram counts at most as often as in
    the one of them that has it most often. `weight` is what each kind of n-gram counts.
    """
    references = []
    for sentence, number in zip(ngrams.sentence[1:], ngrams.number[1:], strict=True):
        references.append(np.unique(sentence * ngrams.n_kinds + number, return_counts=True))
    keys = np.concatenate([k for k, _ in references])
    counts = np.concatenate([c for _, c in references])
    order = np.argsort(keys, kind="stable")
    reference_keys, first = np.unique(keys[order], return_index=True)
    if len(reference_keys) == 0:
        return np.zeros(len(line))
    most = np.maximum.reduceat(counts[order], first)

    hypothesis_keys, own_counts = np.unique(ngrams.sentence[0] * ngrams.n_kinds + ngrams.number[0], return_counts=True)
    hypothesis, kind = np.divmod(hypothesis_keys, ngrams.n_kinds)
    wanted = line[hypothesis] * ngrams.n_kinds + kind
    at = np.minimum(np.searchsorted(reference_keys, wanted), len(reference_keys) - 1)
    matches = np.where(reference_keys[at] == wanted, np.minimum(own_counts, most[at]), 0).astype(np.float64)
    if weight is not None:
        matches *= weight[kind]
    return np.asarray(np.bincount(hypothesis, matches, minlength=len(line)), np.float64)


def order_counts(lengths: Ints, max_order: int) -> npt.NDArray[np.float64]:
    """How many n-grams sentences of these lengths have, (n_sentences, max_order)."""
    return np.maximum(lengths[:, None] - np.arange(max_order), 0).astype(np.float64)
