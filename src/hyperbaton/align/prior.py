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

    def chosen(self, rows: Array | slice) -> WordPairCounts:
        return WordPairCounts(self.sources[rows], self.targets[rows], self.values[rows])


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


class StemTranslations:
    """The probabilities of a lexicon of stems, divided among the words of each stem by their frequency in the texts.

    Those of each word sum to `weight` at most; pairs of words below `smallest` in both directions are left out.

    Arguments:
        stems: the number of each word's stem in the lexicon, of both sides.
    """

    def __init__(
        self,
        texts: tuple[Text, Text],
        stems: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]],
        lexicon: tuple[Offsets, WordIds, npt.NDArray[np.float32]],
        weight: float,
        smallest: float,
    ) -> None:
        starts, targets, probabilities = lexicon
        likely = (probabilities >= smallest).any(axis=1)
        self._starts, self._targets, self._values = offsets_of(likely)[starts], targets[likely], probabilities[likely]
        self._weight, self._smallest, self._of_source = np.float32(weight), smallest, stems[0]
        self._shares = [_shares(text, stem) for text, stem in zip(texts, stems, strict=True)]
        self._n_words = np.bincount(stems[1], minlength=int(targets.max(initial=0)) + 1)
        self._words, self._word_starts = np.argsort(stems[1], kind="stable"), offsets_of(self._n_words)
        sizes = offsets_of(self._n_words[self._targets])[self._starts]
        self.ends = np.cumsum(np.diff(sizes)[self._of_source])  # numbers of pairs up to each source word

    def counts(self, begin: int, end: int) -> WordPairCounts:
        """The counts of source words with these numbers."""
        stems = self._of_source[begin:end]
        sizes = self._starts[stems + 1] - self._starts[stems]
        pairs, sources = ranges(self._starts[stems], sizes), np.repeat(np.arange(begin, end), sizes)
        stems = self._targets[pairs]
        sizes = self._n_words[stems]
        target, source = self._words[ranges(self._word_starts[stems], sizes)], np.repeat(sources, sizes)
        shares = np.stack([self._shares[1][target], self._shares[0][source]], axis=1)
        values = (self._values[np.repeat(pairs, sizes)] * shares).astype(np.float32)
        kept = (values >= self._smallest).any(axis=1)
        src, tgt = (side[kept].astype(np.uint32) for side in (source, target))
        return WordPairCounts(src, tgt, self._weight * values[kept])


def _shares(text: Text, stems: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """The fraction of the occurrences of its stem that each word makes up."""
    counts = np.bincount(text.tokens, minlength=len(stems)).astype(np.float64)
    return np.asarray(counts / np.maximum(np.bincount(stems, counts), 1)[stems])


def by_source(
    n_words: int, counts: WordPairCounts, stems: StemTranslations | None = None
) -> tuple[Offsets, WordIds, npt.NDArray[np.float32]]:
    """The offsets of the pairs of each source word, their target words and their counts, of both kinds together."""
    counts = counts.chosen(np.argsort(counts.sources, kind="stable"))
    n_chunks = 1 if stems is None or n_words == 0 else int(stems.ends[-1]) // CHUNK + 1
    cuts = [] if stems is None else np.searchsorted(stems.ends, CHUNK * np.arange(1, n_chunks)).tolist()
    sizes, targets, values = np.zeros(n_words, np.int64), [], []
    for begin, end in pairwise([*np.unique([0, *cuts]).tolist(), n_words]):
        part = counts.chosen(slice(*np.searchsorted(counts.sources, [begin, end])))
        if stems is not None:
            part = WordPairCounts.joined([part, stems.counts(begin, end)])
        order = np.argsort(part.sources.astype(np.uint64) << np.uint64(32) | part.targets, kind="stable")
        sizes[begin:end] = np.bincount(part.sources - begin, minlength=end - begin)
        targets.append(part.targets[order])
        values.append(part.values[order])
    return offsets_of(sizes), np.concatenate(targets), np.concatenate(values)


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
