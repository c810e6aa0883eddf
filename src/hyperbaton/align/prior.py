"""Priors of the aligner: counts of word pairs that are added to those of the text.

With such counts k(s, t), the aligner's p(t | s) is (c(s, t) + k(s, t) + λ·f(t)) / (c(s) + k(s) + λ). They come from a saved
model, from words that are written alike on both sides, and from a first training on words cut to their first letters.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hyperbaton.align.base import Vocabularies
from hyperbaton.base.arrays import Array, offsets_of, ranges
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.text import Offsets, WordIds

CHUNK = 500_000  # word pairs derived from stem pairs at a time
LEAST_KNOWN = 0.2  # a model of the same language knows more than this share of a text's words with letters


@dataclass(frozen=True)
class WordPairCounts:
    """Counts of word pairs: of the target word as a translation of the source word, and the reverse."""

    sources: WordIds
    targets: WordIds
    values: npt.NDArray[np.float32]  # (number of pairs, 2)

    @classmethod
    def joined(cls, parts: Sequence[WordPairCounts]) -> WordPairCounts:
        """All counts together; a pair may be listed twice."""
        columns = ([getattr(part, name) for part in parts] for name in ("sources", "targets", "values"))
        return cls(*map(np.concatenate, columns))

    def by_source(self, n_words: int) -> tuple[Offsets, WordIds, npt.NDArray[np.float32]]:
        """The offsets of the pairs of each source word, their target words and their counts."""
        order = np.argsort(self.sources.astype(np.uint64) << np.uint64(32) | self.targets, kind="stable")
        starts = np.searchsorted(self.sources[order], np.arange(n_words + 1)).astype(np.int64)
        return starts, self.targets[order], self.values[order]


def written_form(word: str) -> str:
    """The form of a word or number by which scripts are compared. Marks do not change, since scripts use them differently.

    >>> [written_form(word) for word in ("２０", "٢٠", "Kyoto", "（", "。")]
    ['20', '20', 'kyoto', '（', '。']
    """
    if word.isascii():
        return word.lower()
    if not any(map(str.isalnum, word)):
        return word
    form = unicodedata.normalize("NFKC", word).lower()
    if form.isalpha():
        return form
    digits = (unicodedata.decimal(letter, None) for letter in form)
    return "".join(letter if digit is None else str(digit) for letter, digit in zip(form, digits, strict=True))


def alike_words(vocabularies: Vocabularies, weight: float) -> WordPairCounts:
    """A count of `weight` for each pair of words, numbers or marks that are written alike."""
    sources: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(vocabularies[0].words()):
        sources[written_form(word)].append(number)
    pairs = [
        (source, target)
        for target, word in enumerate(vocabularies[1].words())
        for source in sources.get(written_form(word), ())
    ]
    numbers = np.array(pairs, np.uint32).reshape(-1, 2)
    return WordPairCounts(numbers[:, 0].copy(), numbers[:, 1].copy(), np.full((len(pairs), 2), weight, np.float32))


def renumbered(old: Vocabulary, new: Vocabulary) -> npt.NDArray[np.int64]:
    """The number of each old word in another vocabulary, -1 if it has none."""
    return new.find_all(old).view(np.int32).astype(np.int64)


def usual_weight(n_prior: int, n_words: int) -> float:
    """The default weight of a prior model trained on `n_prior` words, for a text of `n_words`.

    >>> [round(usual_weight(400_000, n_words)) for n_words in (2_000, 20_000, 400_000)]
    [283, 89, 20]
    """
    return min(20 * math.sqrt(n_prior / max(n_words, 1)), 1000.0)


def translations(
    model: Vocabularies,
    texts: Vocabularies,
    lexicon: tuple[Offsets, WordIds, npt.NDArray[np.float32]],
    weight: float,
) -> WordPairCounts:
    """The probabilities of a model's lexicon in other texts' word numbers; those of each word sum to `weight` at most."""
    starts, targets, probabilities = lexicon
    of_source, of_target = (renumbered(old, new) for old, new in zip(model, texts, strict=True))
    sources = np.repeat(of_source, np.diff(starts))
    shared = (sources >= 0) & (of_target[targets] >= 0)
    src, tgt = (side[shared].astype(np.uint32) for side in (sources, of_target[targets]))
    return WordPairCounts(src, tgt, (weight * probabilities[shared]).astype(np.float32))


def stem_translations(
    texts: tuple[Text, Text],
    stems: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]],
    lexicon: tuple[Offsets, WordIds, npt.NDArray[np.float32]],
    weight: float,
    smallest: float,
) -> WordPairCounts:
    """The probabilities of a lexicon of stems, divided among the words of each stem by their frequency in the texts.

    Those of each word sum to `weight` at most; pairs of words below `smallest` in both directions are left out.

    Arguments:
        stems: the number of each word's stem in the lexicon, of both sides.
    """
    starts, targets, probabilities = lexicon
    sources = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    sides = [_StemWords(text, stem) for text, stem in zip(texts, stems, strict=True)]
    likely = np.flatnonzero((probabilities >= smallest).any(axis=1))
    parts = [WordPairCounts(np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros((0, 2), np.float32))]
    columns = sides[1].sizes(targets[likely])
    sizes = sides[0].sizes(sources[likely]) * columns
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, CHUNK), side="right")
    for begin, end in pairwise([*np.unique(cuts), len(likely)]):
        pairs, n_words = likely[begin:end], sizes[begin:end]
        owner = np.repeat(pairs, n_words)
        row, column = np.divmod(ranges(0, n_words), np.repeat(columns[begin:end], n_words))
        source, target = sides[0].word(sources[owner], row), sides[1].word(targets[owner], column)
        shares = np.stack([sides[1].shares[target], sides[0].shares[source]], axis=1)
        values = (probabilities[owner] * shares).astype(np.float32)
        kept = (values >= smallest).any(axis=1)
        src, tgt = (side[kept].astype(np.uint32) for side in (source, target))
        parts.append(WordPairCounts(src, tgt, np.float32(weight) * values[kept]))
    return WordPairCounts.joined(parts)


class _StemWords:
    """The words of each stem, and the fraction of the stem's occurrences that each word makes up."""

    def __init__(self, text: Text, stems: npt.NDArray[np.uint32]) -> None:
        counts = np.bincount(text.tokens, minlength=len(stems)).astype(np.float64)
        self.shares = counts / np.maximum(np.bincount(stems, counts), 1)[stems]
        self.words = np.argsort(stems, kind="stable")
        self.starts = offsets_of(np.bincount(stems))

    def sizes(self, stems: Array) -> npt.NDArray[np.int64]:
        """The number of words of each stem."""
        return np.asarray(self.starts[stems + 1] - self.starts[stems])

    def word(self, stems: Array, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The word at a position among those of its stem."""
        return np.asarray(self.words[self.starts[stems] + places])


def check_languages(name: str, model: Vocabularies, texts: tuple[Text, Text]) -> tuple[float, float]:
    """The shares of words that a model knows, of both texts; refuses one of other languages or of the other direction.

    Arguments:
        name: what the model is in messages, with its path.
    """
    shares = [[_known_share(text, words) for words in model] for text in texts]
    straight, exchanged = min(shares[0][0], shares[1][1]), min(shares[0][1], shares[1][0])
    if straight >= LEAST_KNOWN:
        return shares[0][0], shares[1][1]
    if exchanged >= LEAST_KNOWN:
        raise OptionError(f"{name} is for the other direction: its source language is that of the target text")
    side = "source" if shares[0][0] < LEAST_KNOWN else "target"
    raise OptionError(
        f"{name} knows only {straight:.0%} of the words of the {side} text: "
        "it must have been trained on the same languages, tokenized in the same way"
    )


def _known_share(text: Text, vocabulary: Vocabulary) -> float:
    """The fraction of a text's words with letters that are in a vocabulary; 1 if there are no such words."""
    spelled = np.array([any(map(str.isalpha, word)) for word in text.vocabulary.words()], bool)
    counts = np.bincount(text.tokens, minlength=len(spelled)) * spelled
    return float(counts[renumbered(text.vocabulary, vocabulary) >= 0].sum() / counts.sum()) if counts.any() else 1.0
