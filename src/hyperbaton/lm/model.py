"""The probability of a text, word by word, from n-grams with back-off.

With h the words before w, and h⁻ the same without the oldest one,

    p(w | h) = p(hw) if the n-gram hw is in the model, else b(h) · p(w | h⁻),

where b(h) is the back-off weight of h, 1 if the model does not have it. Sentences begin with <s>, whose own probability
does not count, and end with </s>, whose probability does. Unknown words are <unk>.

The n-grams are stored in arrays, memory-mapped from an artefact, so a model of any size opens at once and is shared by
all processes that use it. Probabilities are stored as log10, as in the ARPA format, and returned as natural logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, takewhile
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric, store
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import DamagedError, InputError, OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import to_mapping
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, default_threads, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shown import Display
from hyperbaton.corpus.files import AnyPath, feed, write_pieces
from hyperbaton.corpus.text import Text, Vocabulary
from hyperbaton.lm.estimation import MEMORY, Estimation, EstimationKeywords, estimate_ngrams
from hyperbaton.lm.ngrams import Ngrams, arpa_pieces

KIND = "lm"
LAYOUT: Layout = {
    "ngrams.*.slots": "u1 * *",
    "ngrams.*.prob_bins": "f4 *",
    "ngrams.*.backoff_bins": "f4 *",
    **within("vocabulary", Vocabulary.LAYOUT),
}
STORED = store.Kind(KIND, LAYOUT)
UNK, BOS, EOS = 0, 1, 2  # their numbers in every model's vocabulary


class Perplexity(NamedTuple):
    """How well a model predicts a text; `</s>` counts as a token, as in KenLM's `query`."""

    including_unknown: float
    excluding_unknown: float
    n_tokens: int  # words and sentence ends
    n_unknown: int
    logprob: float  # of the whole text, natural log


class NgramTable(NamedTuple):
    """The n-grams of one order, as the core lays them out: `core/lm/ngram_model.hh`."""

    slots: npt.NDArray[np.uint8]  # (n_slots, bytes per slot); packed: (n_bytes, 1)
    prob_bins: npt.NDArray[np.float32]  # (256,) if quantised, else empty; packed: any number of values
    backoff_bins: npt.NDArray[np.float32]


@dataclass(frozen=True, repr=False)
class LanguageModel(Display, Picklable):
    """An n-gram model.

    >>> model = LanguageModel.parse_arpa('''\\\\data\\\\
    ... ngram 1=4
    ... ngram 2=1
    ...
    ... \\\\1-grams:
    ... -1\\t<unk>\\t0
    ... 0\\t<s>\\t-0.5
    ... -0.5\\t</s>\\t0
    ... -0.5\\ta\\t0
    ...
    ... \\\\2-grams:
    ... -0.25\\t<s> a
    ...
    ... \\\\end\\\\''')
    >>> (model.score(["a", "", "b"]) / np.log(10)).round(3).tolist()
    [-0.75, -1.0, -2.0]
    """

    vocabulary: Vocabulary
    tables: tuple[NgramTable, ...]
    options: dict[str, object] = field(default_factory=dict, compare=False)  # how it was made

    @classmethod
    def estimate(
        cls,
        text: Text,
        order: int = Estimation.order,
        *,
        memory: str | int = MEMORY,
        vocabulary: Vocabulary | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        **keywords: Unpack[EstimationKeywords],
    ) -> LanguageModel:
        """Estimate a model with interpolated modified Kneser-Ney smoothing; `Estimation` explains the options.

        The result depends neither on the memory nor on the number of threads.

        Arguments:
            memory: limit for counting and sorting, "4G" for example, or bytes; what does not fit goes to files.
            vocabulary: the words that may be in the model; others become <unk>.
            progress: called with (steps done, steps in all).

        >>> model = LanguageModel.estimate(Text.of(["a b", "b a", "b b"]), order=2, discount_fallback=True)
        >>> bool(model.score(["b a"]) > model.score(["c a"]))
        True
        """
        options = Estimation(order, **keywords)
        resources = Resources.of(threads, progress, Scratch(parse_memory(memory)))
        return cls.of(estimate_ngrams(text, options, resources, vocabulary), options, resources.threads)

    @classmethod
    def of(cls, ngrams: Ngrams, options: Estimation, threads: int | None = None) -> LanguageModel:
        """Make a model from the n-grams of `estimate_ngrams` and their options."""
        return cls(ngrams.vocabulary, _without_bins(ngrams.tables(threads)), to_mapping(options))

    @classmethod
    def read_arpa(cls, path: AnyPath) -> LanguageModel:
        """Read a model in the ARPA format, plain or compressed."""
        reader = _core.ArpaReader(default_threads())
        feed(reader, path)
        return cls._taken(reader)

    @classmethod
    def parse_arpa(cls, text: str) -> LanguageModel:
        """Read a model from a text in the ARPA format."""
        reader = _core.ArpaReader(default_threads())
        feed(reader, "ARPA text", [text.encode()])
        return cls._taken(reader)

    @classmethod
    def _taken(cls, reader: _core.ArpaReader) -> LanguageModel:
        return cls(Vocabulary(*reader.vocabulary().arrays()), _without_bins(reader.take()))

    def arpa_pieces(self, threads: int | None = None) -> Iterator[bytes]:
        """The model in the ARPA format, in pieces; n-grams are sorted by word number."""
        return arpa_pieces(self.view, self.vocabulary, threads)

    def write_arpa(self, path: AnyPath, threads: int | None = None) -> None:
        """Write the model in the ARPA format, compressed according to the file name."""
        write_pieces(path, self.arpa_pieces(threads))

    def arrays(self) -> dict[str, Array]:
        arrays = self.vocabulary.arrays("vocabulary")
        for n, table in enumerate(self.tables, start=1):
            arrays |= {f"ngrams.{n}.{name}": array for name, array in table._asdict().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: store.Arrays) -> LanguageModel:
        orders = takewhile(lambda n: f"ngrams.{n}.slots" in arrays, count(1))
        tables = (NgramTable(*(arrays[f"ngrams.{n}.{name}"] for name in NgramTable._fields)) for n in orders)
        model = cls(Vocabulary.from_arrays(store.group(arrays, "vocabulary")), tuple(tables))
        if not model.tables or model.view.n_words != len(model.vocabulary):
            raise DamagedError("the vocabulary does not fit the n-grams")
        return model

    def save(self, path: AnyPath) -> None:
        """Write the model as an artefact."""
        details = {"order": self.order, "n_ngrams": self.n_ngrams}
        store.save(path, STORED, self.arrays(), options=self.options, details=details)

    @classmethod
    def load(cls, path: AnyPath) -> LanguageModel:
        """Open a stored model, memory-mapped."""

        def read(artefact: store.Artefact) -> LanguageModel:
            model = cls.from_arrays(artefact.arrays())
            model.options.update(artefact.options)
            return model

        return store.read_artefact(path, STORED, read)

    def facts(self) -> dict[str, int]:
        return {"words": len(self.vocabulary)} | {f"{n}-grams": many for n, many in enumerate(self.n_ngrams, 1)}

    @cached_property
    def view(self) -> _core.NgramModel:
        """The model in the core."""
        return _core.NgramModel(self.tables)

    @property
    def order(self) -> int:
        """Length of the longest n-gram."""
        return len(self.tables)

    @property
    def n_ngrams(self) -> list[int]:
        """The number of n-grams of each order."""
        return self.view.count_ngrams()

    @property
    def nbytes(self) -> int:
        """Size of the n-grams in bytes, on disk and in memory."""
        return sum(array.nbytes for table in self.tables for array in table)

    def quantized(self, bits: int = 8) -> LanguageModel:
        """Return a smaller model, whose probabilities and back-off weights above order 1 take 2^bits values each."""
        if not 1 <= bits <= 8:
            raise OptionError(f"quantisation needs 1 to 8 bits, not {bits}")
        tables = tuple(NgramTable(*parts) for parts in self.view.quantize(1 << bits))
        return LanguageModel(self.vocabulary, tables, {**self.options, "quantize": bits})

    def packed(self, *, exact: bool, pairs: tuple[Array, Array, Array] | None = None) -> LanguageModel:
        """Return a much smaller model whose n-grams are sorted, not hashed; queries take longer.

        Arguments:
            exact: do not also quantise it.
            pairs: keep only n-grams of words that can follow each other: for each word whether it can be the last of a
                phrase, whether it can be the first, and the increasing pairs inside phrases, a · 2³² + b.
        """
        if self.view.is_packed:
            return self
        has_bins = any(len(table.prob_bins) for table in self.tables)
        model = self if exact or has_bins else self.quantized()
        tables = tuple(NgramTable(*parts) for parts in model.view.pack(pairs))
        return LanguageModel(self.vocabulary.packed(), tables, {**model.options, "packed": True})

    def numbers(self, text: Text) -> npt.NDArray[np.uint32]:
        """Number of each token in the model's vocabulary, or `UNK`; shape (n_tokens,)."""
        return self.numbers_of(text.vocabulary)[text.tokens]

    def numbers_of(self, words: Vocabulary) -> npt.NDArray[np.uint32]:
        """Number of each word of another vocabulary in that of the model, or `UNK`."""
        numbers = self.vocabulary.find_all(words)
        return np.where(numbers == _core.UNKNOWN_WORD, np.uint32(UNK), numbers)

    def score_words(
        self, text: Text | Sequence[str], *, threads: int | None = None, progress: Progress | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Natural log of the probability of each word and each sentence's end, and where each sentence starts.

        Sentence s of n words has n + 1 values, those from `starts[s]` to `starts[s + 1]`.
        """
        words = text if isinstance(text, Text) else Text.of(text)
        numbers = _core.Tokens(words=self.numbers(words), offsets=words.offsets)
        logprobs = self.view.score_words(numbers, n_threads=n_threads(threads), progress=progress)
        return logprobs, words.offsets + np.arange(len(words) + 1)

    def score(
        self, sentences: Text | Sequence[str], *, threads: int | None = None, progress: Progress | None = None
    ) -> npt.NDArray[np.float64]:
        """Natural log of the probability of each sentence; shape (n_sentences,)."""
        logprobs, starts = self.score_words(sentences, threads=threads, progress=progress)
        return np.add.reduceat(logprobs, starts[:-1], dtype=np.float64) if len(starts) > 1 else np.empty(0)

    def perplexity(
        self, text: Text | Sequence[str], *, threads: int | None = None, progress: Progress | None = None
    ) -> Perplexity:
        """Measure how well the model predicts a text: exp of the mean negative log-probability."""
        words = text if isinstance(text, Text) else Text.of(text)
        logprobs, _ = self.score_words(words, threads=threads, progress=progress)
        if not len(logprobs):
            raise InputError("the perplexity of an empty text is not defined", words.path)
        unknown = np.insert(self.numbers(words) == UNK, words.offsets[1:], False)  # ends of sentences are known
        total, seen = float(logprobs.sum(dtype=np.float64)), logprobs[~unknown]
        return Perplexity(
            float(numeric.exp(-total / len(logprobs))),
            float(numeric.exp(-seen.mean(dtype=np.float64))),
            len(logprobs),
            int(unknown.sum()),
            total,
        )


def _without_bins(slots: Iterable[npt.NDArray[np.uint8]]) -> tuple[NgramTable, ...]:
    none = np.empty(0, np.float32)
    return tuple(NgramTable(order, none, none) for order in slots)
