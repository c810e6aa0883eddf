"""Word classes: clusters of words that occur in similar contexts, without a tagger.

The exchange algorithm (Kneser and Ney 1993) looks for the classes under which a class bigram model explains the text best.
With N(g, h) the number of class bigrams and N(g) that of class unigrams it maximises the criterion of `mkcls` (Och 1999)

    F = Σ_gh N(g, h) log N(g, h) − 2 Σ_g N(g) log N(g),

the part of the log-likelihood Σ log p(h | g) p(w | h) that depends on the classes (natural log, higher is better). Each
sentence has a boundary, a separate class, before its first and after its last word; empty sentences are not counted.

Class numbers are those of `mkcls`: 0 is the boundary, and here also a word without a class; 1 is kept for words that
`mkcls` leaves out; the classes are 2 … n_classes + 1, ours by falling frequency. If a text has no more
distinct words than classes, each word has its own class; words of the vocabulary that do not occur have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import InputError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus.files import AnyPath, feed, read_pieces, shown, write_pieces
from hyperbaton.corpus.text import Text, Vocabulary

ClassIds = npt.NDArray[np.uint16]
FIRST_CLASS = 2

# Limits on the number of words whose moves are chosen against one state: at most _BATCH, and at most 1 / _BATCHES of the
# vocabulary, since moving all words at once gives poor classes. Results depend on it, so it does not depend on threads.
_BATCH, _BATCHES = 4096, 16
# The fraction of the classes that a further run mixes. Means of 0.2 to 0.5 lay within the spread of seeds; 0.1, 0.7 and 1
# were worse on real text, though 1 was slightly better on the tiny golden one.
_MIXED = 0.3


@dataclass
class Clustering(CheckedOptions):
    """How words are clustered."""

    classes: int = option(50, "number of classes", minimum=1, maximum=4000)
    runs: int = option(5, "number of runs; each starts from the best classes so far, perturbed", minimum=1)
    sweeps: int = option(100, "maximum number of passes over the words", minimum=0)


@dataclass(frozen=True)
class WordClasses:
    """The class of each word of a vocabulary.

    `history` is the criterion at the start of the best run and after each of its sweeps; classes read from a file
    have none.

    >>> text = Text.of(["the cat sleeps", "a dog sleeps", "the dog eats", "a cat eats"])
    >>> classes = word_classes(text, n_classes=3)
    >>> classes["cat"] == classes["dog"], classes["cat"] == classes["eats"]
    (True, False)
    >>> classes.tags(Text.of(["a bird sleeps"])).tolist() == [classes["a"], 0, classes["sleeps"]]
    True
    """

    classes: ClassIds  # (n_words,)
    n_classes: int
    vocabulary: Vocabulary
    history: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # (n_sweeps + 1,)

    @property
    def criterion(self) -> float | None:
        """The final value of the criterion; None for classes read from a file, for which `class_criterion` computes it."""
        return float(self.history[-1]) if len(self.history) else None

    def __getitem__(self, word: str) -> int:
        """The class of a word, 0 if it has none."""
        number = self.vocabulary.number(word)
        return int(self.classes[number]) if number >= 0 else 0

    def tags(self, text: Text) -> ClassIds:
        """The class of each token of any text, 0 for words without a class; shape (n_tokens,)."""
        classes = self.classes
        if text.vocabulary is not self.vocabulary:
            classes = _core.carry_classes(self.vocabulary.lookup, self.classes, text.vocabulary.lookup)
        return classes[text.tokens]

    @classmethod
    def read(cls, path: AnyPath, vocabulary: Vocabulary) -> WordClasses:
        """Read a file of `mkcls` (word, tab, class); words that are not in the vocabulary are ignored."""
        reader = _core.ClassFileReader(vocabulary.lookup)
        pieces = list(read_pieces(path))
        if not any(piece.strip() for piece in pieces):
            raise InputError("the file has no word classes", shown(path))
        feed(reader, path, pieces)
        classes: ClassIds = reader.take()
        return cls(classes, max(int(classes.max(initial=0)) - FIRST_CLASS + 1, 0), vocabulary)

    def write(self, path: AnyPath) -> None:
        """Write a file as `mkcls` does, sorted by word in byte order; words without a class are left out."""
        write_pieces(path, [_core.format_classes(self.vocabulary.lookup, self.classes)])


def word_classes(
    text: Text,
    n_classes: int = Clustering.classes,
    *,
    runs: int = Clustering.runs,
    sweeps: int = Clustering.sweeps,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WordClasses:
    """Cluster the words of a text.

    The most frequent words start in one class each and the others in random classes; words then move until no
    single move gains, or for `sweeps` sweeps. A further run starts from the best classes so far, with the words of some
    classes mixed, and counts if it ends higher. The result depends on the seed, not on the number of threads.

    Arguments:
        runs: the number of runs; more runs find higher criteria.
        progress: called with (word visits done, their maximum).
    """
    return cluster_words(text, Clustering(n_classes, runs, sweeps), seed, Resources.of(threads, progress))


def cluster_words(text: Text, clustering: Clustering, seed: int, resources: Resources) -> WordClasses:
    """Cluster the words of a text, as `word_classes` does."""
    n_words, n_classes, runs = len(text.vocabulary), clustering.classes, clustering.runs
    bigrams = _core.WordBigrams(text.core_tokens, n_words, resources.threads)
    random = np.random.default_rng(seed)
    best, criteria = _first_classes(text, n_classes, random), np.array([-np.inf])
    for run in range(runs):
        classes, history = _core.exchange_classes(
            bigrams,
            _shaken(best, n_classes, random) if run else best,
            n_classes=n_classes,
            max_sweeps=clustering.sweeps,
            batch_size=max(1, min(_BATCH, n_words // _BATCHES)),
            n_threads=resources.threads,
            progress=resources.part(run, of=runs).progress,
        )
        if history[-1] > criteria[-1]:
            best, criteria = classes, history
    return WordClasses(best, n_classes, text.vocabulary, criteria)


def _first_classes(text: Text, n_classes: int, random: np.random.Generator) -> ClassIds:
    """Initial classes: one for each of the most frequent words, random ones for the others."""
    n_words = len(text.vocabulary)
    first = random.integers(n_classes, size=n_words)
    by_count = np.argsort(-np.bincount(text.tokens, minlength=n_words), kind="stable")
    first[by_count[:n_classes]] = np.arange(min(n_classes, n_words))
    return (first + FIRST_CLASS).astype(np.uint16)


def _shaken(classes: ClassIds, n_classes: int, random: np.random.Generator) -> ClassIds:
    """Initial classes of a further run: the words of some classes are dealt out among these at random."""
    n_mixed = min(n_classes, max(2, round(_MIXED * n_classes)))
    mixed = (random.choice(n_classes, n_mixed, replace=False) + FIRST_CLASS).astype(np.uint16)
    dealt = random.choice(mixed, len(classes))
    # Words that do not occur have no class and no influence: any value will do.
    return np.where(np.isin(classes, mixed) | (classes == 0), dealt, classes)


def class_criterion(text: Text, classes: WordClasses) -> float:
    """Compute the criterion F of any classes on a text, all of whose words must have a class.

    >>> text = Text.of(["a b", "a c"])
    >>> classes = word_classes(text, n_classes=2)
    >>> round(class_criterion(text, classes) - classes.criterion, 9)
    0.0
    """
    tags = classes.tags(text)
    if (tags == 0).any():
        word = text.vocabulary.word(text.tokens[int(np.argmax(tags == 0))])
        raise InputError(f"the word {word!r} has no class", text.path)
    # One boundary between sentences is the end of one and the start of the next.
    starts = text.offsets[:-1][text.lengths > 0]
    sequence = np.append(np.insert(tags.astype(np.int64), starts, 0), 0)
    width = int(sequence.max()) + 1
    bigrams = np.bincount(sequence[:-1] * width + sequence[1:], minlength=width * width)
    unigrams = np.bincount(sequence[:-1], minlength=width)
    return _n_log_n(bigrams) - 2 * _n_log_n(unigrams)


def _n_log_n(counts: npt.NDArray[np.int64]) -> float:
    present = counts[counts > 0].astype(np.float64)
    return float(np.sum(present * numeric.log(present)))
