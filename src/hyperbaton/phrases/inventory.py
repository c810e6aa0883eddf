"""The distinct phrases and phrase pairs of samples, numbered in the byte order of Moses' sorted files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers, offsets_of, ranges
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.errors import DamagedError, HyperbatonError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.packed import PackedColumn, PackedNumbers, core_numbers
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Arrays, check_numbers
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.text import Offsets, WordIds

if TYPE_CHECKING:
    from hyperbaton.corpus import Bitext
    from hyperbaton.phrases.samples import Samples

MOST_WORDS = 2**32  # limit of 32-bit positions in a text, and of numbers of samples

# Memory for numbering phrases and pairs, per sample.
_BYTES = 160
# Memory for the words of a phrase, and phrases whose words are gathered at once.
_WORDS_BYTES, _GATHERED = 256, 1 << 18
ALL = slice(None)
SIDES = ("source", "target")
# Samples that are merged at once, and memory for each.
_MERGED, _MERGED_BYTES = 1 << 20, 64


@dataclass(frozen=True)
class Phrases(ArrayFields):
    """Distinct phrases over a vocabulary, in byte order: phrase p is `words[begins[p]:begins[p] + lengths[p]]`.

    `words` is usually the text in which the phrases occur, so they may overlap: each is at its first occurrence.
    """

    begins: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint8]
    words: WordIds
    vocabulary: Vocabulary

    LAYOUT: ClassVar[Layout] = {
        "begins": "u4|packed n",
        "lengths": "u1|packed n",
        "words": "u4|packed n_words",
        **within("vocabulary", Vocabulary.LAYOUT),
    }
    PARTS: ClassVar = {"vocabulary": Vocabulary}

    @classmethod
    def of(cls, offsets: Offsets, words: WordIds, vocabulary: Vocabulary) -> Phrases:
        """Make phrases from concatenated ones: phrase p is `words[offsets[p]:offsets[p + 1]]`."""
        check_places(len(words))
        return cls(offsets[:-1].astype(np.uint32), np.diff(offsets).astype(np.uint8), words, vocabulary)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def core(self) -> _core.PhraseArrays:
        return _core.PhraseArrays(core_numbers(self.begins), core_numbers(self.lengths), core_numbers(self.words))

    def __getitem__(self, phrase: int) -> str:
        """A phrase as text. Its numbers come from arrays that may be damaged."""
        if not 0 <= phrase < len(self):
            raise IndexError(f"phrase {phrase} of {len(self)}")
        begin, length = int(self.begins[phrase]), int(self.lengths[phrase])
        if begin + length > len(self.words):
            raise DamagedError("a phrase is outside its text")
        words = self.words[begin : begin + length].tolist()
        if max(words, default=-1) >= len(self.vocabulary):
            raise DamagedError("the number of a word is out of range")
        return " ".join(map(self.vocabulary.word, words))

    def __iter__(self) -> Iterator[str]:
        return (self[p] for p in range(len(self)))

    def number(self, phrase: str) -> int:
        """The number of a phrase, -1 if it has none. Takes time logarithmic in the number of phrases."""
        place = bisect_left(self, _sort_key(phrase), key=_sort_key)
        return place if place < len(self) and self[place] == phrase else -1

    def gather(self, numbers: Integers | slice = ALL) -> tuple[WordIds, Offsets]:
        """The concatenated words of chosen phrases, and their offsets.

        >>> phrases = Phrases.of(np.array([0, 2, 3]), np.array([7, 8, 9], np.uint32), Vocabulary.of([]))
        >>> words, offsets = phrases.gather(np.array([1, 0]))
        >>> words.tolist(), offsets.tolist()
        ([9, 7, 8], [0, 1, 3])
        """
        begins, lengths = self.begins[numbers], self.lengths[numbers]
        return self.words[ranges(begins, lengths)], offsets_of(lengths)

    def as_text(self) -> Text:
        """The phrases as sentences."""
        return Text(*self.gather(), self.vocabulary)

    def select(self, used: npt.NDArray[np.bool_]) -> tuple[Phrases, npt.NDArray[np.int64]]:
        """The phrases that are used, and their old numbers."""
        numbers = np.flatnonzero(used)
        return replace(self, begins=self.begins[numbers], lengths=self.lengths[numbers]).side_by_side(), numbers

    def side_by_side(self, scratch: Scratch | None = None) -> Phrases:
        """The phrases without overlap, if that takes fewer words than the text that contains them."""
        return self if int(self.lengths[:].sum(dtype=np.int64)) >= len(self.words) else self.gathered(scratch or Scratch())

    def gathered(self, scratch: Scratch) -> Phrases:
        """The phrases with their words side by side, in order."""
        begins, words = Column(scratch, np.uint32), Column(scratch, np.uint32)
        step = scratch.at_most(_GATHERED, _WORDS_BYTES)
        for at in range(0, len(self), step):
            phrases, offsets = self.gather(slice(at, at + step))
            begins.append(offsets[:-1] + len(words))
            words.append(phrases)
        return replace(self, begins=begins.finish(), words=words.finish())

    def check(self) -> None:
        """Raise DamagedError unless all places and words fit; for code that reads all of them without the core."""
        check_numbers(self.words, len(self.vocabulary), "word")
        step = 1 << 20  # they may be larger than memory
        for at in range(0, len(self), step):
            ends = self.begins[at : at + step] + self.lengths[at : at + step].astype(np.int64)
            if len(self.begins) != len(self) or ends.max(initial=0) > len(self.words):
                raise DamagedError("a phrase is outside its text")


def _sort_key(phrase: str) -> bytes:
    return phrase.encode() + b" |||"


@dataclass(frozen=True)
class Inventory(ArrayFields):
    """Phrases of both sides, their pairs, and the samples of each pair.

    Pairs of source phrase p are those from `offsets[p]` to `offsets[p + 1]`, with the target phrases `targets`,
    increasing; pair k has `counts[k]` samples, which follow those of the pairs before it in `sample_order`.
    """

    source: Phrases
    target: Phrases
    offsets: Offsets
    targets: npt.NDArray[np.uint32]
    counts: PackedNumbers
    sample_order: npt.NDArray[np.uint32]

    PARTS: ClassVar = {"source": Phrases, "target": Phrases}

    @property
    def n_pairs(self) -> int:
        return len(self.targets)

    @property
    def sample_offsets(self) -> Offsets:
        """The samples of pair k are `sample_order[sample_offsets[k]:sample_offsets[k + 1]]`."""
        return offsets_of(self.counts[:])

    def without_samples(self) -> Inventory:
        """The phrases and pairs alone, which frees the memory of the samples of each pair."""
        return replace(self, sample_order=np.zeros(0, np.uint32))

    def piece(self, begin: int, end: int, first_sample: int) -> Inventory:
        """The pairs of source phrases [begin, end), given the number of samples of the pairs before them."""
        if (begin, end) == (0, len(self.source)):
            return self
        rows, phrases = slice(self.offsets[begin], self.offsets[end]), slice(begin, end)
        source = replace(self.source, begins=self.source.begins[phrases], lengths=self.source.lengths[phrases])
        offsets, counts = self.offsets[begin : end + 1] - rows.start, self.counts[rows]
        samples = self.sample_order[first_sample : first_sample + counts.sum(dtype=np.int64)]
        return Inventory(source, self.target, offsets, self.targets[rows], PackedNumbers.of_pieces([counts]), samples)

    def places(self, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
        """Arguments of `piece` for ranges of source phrases that follow each other from the first phrase on."""
        first_sample, first_row = 0, 0
        for begin, end in ranges:
            first_sample += int(self.counts[first_row : self.offsets[begin]].sum(dtype=np.int64))
            yield begin, end, first_sample
            first_row = self.offsets[begin]

    @classmethod
    def of(
        cls,
        bitext: Bitext,
        samples: Samples,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
    ) -> Inventory:
        """Number the phrases and pairs of samples.

        With `scratch`, runs of samples that fit into its memory are numbered, and the sorted runs are merged.

        >>> from hyperbaton.phrases import extract
        >>> from hyperbaton.corpus import Bitext
        >>> bitext = Bitext.of(["a b a"], ["x y x"], [[(0, 0), (1, 1), (2, 2)]])
        >>> inventory = Inventory.of(bitext, extract(bitext))
        >>> list(inventory.source)
        ['a b a', 'a b', 'a', 'b a', 'b']
        """
        resources = Resources.of(threads, progress, scratch)
        runs = list(resources.scratch.rows(len(samples), _BYTES))
        if len(runs) <= 1:
            return cls._of_run(bitext, samples, slice(0, len(samples)), resources)
        merge, silent = InventoryMerge(resources.scratch), Resources(resources.threads)
        for n, run in enumerate(runs):
            merge.add(cls._of_run(bitext, samples, run, silent).as_run())
            resources.report(n + 1, len(runs) + 1)
        return merge.finish(bitext)

    @classmethod
    def _of_run(cls, bitext: Bitext, samples: Samples, run: slice, resources: Resources) -> Inventory:
        """Number the phrases and pairs of a run of samples, which are numbered from 0."""
        sentence = samples.sentence[run]
        sides = (
            (bitext.source, samples.source_begin, samples.source_length),
            (bitext.target, samples.target_begin, samples.target_length),
        )
        (source, source_ids), (target, target_ids) = (
            number_phrases(text, sentence, begin[run], length[run], resources) for text, begin, length in sides
        )
        pairs = _core.pair_phrases(source_ids, target_ids, len(source), resources.threads, resources.progress)
        offsets, targets, sample_offsets, sample_order = pairs
        return cls(source, target, offsets, targets, PackedNumbers.of_pieces([np.diff(sample_offsets)]), sample_order)

    def as_run(self) -> dict[str, Array]:
        """Named arrays that can be merged with those of others: the phrases, and the pairs and samples in few bytes."""
        return {
            "source.begins": self.source.begins,
            "source.lengths": self.source.lengths,
            "target.begins": self.target.begins,
            "target.lengths": self.target.lengths,
            "pairs": _core.encode_pairs(self.offsets, self.targets, self.sample_offsets, self.sample_order),
            "n_samples": np.array([len(self.sample_order)]),
        }


def check_places(n_words: int) -> None:
    """Raise an error if the text that contains the phrases has too many words."""
    if n_words > MOST_WORDS:
        raise HyperbatonError(f"phrases of {n_words:,} words in total; the maximum is {MOST_WORDS:,}")


class Runs:
    """The arrays of all runs in one column, since one file for each run would be too many."""

    def __init__(self, scratch: Scratch, dtype: npt.DTypeLike) -> None:
        self._column, self._ends = Column(scratch, dtype), [0]

    def append(self, array: Array) -> None:
        self._column.append(array)
        self._ends.append(len(self._column))

    def finish(self) -> list[Array]:
        whole = self._column.finish()
        return [whole[begin:end] for begin, end in pairwise(self._ends)]


class InventoryMerge:
    """Merges inventories of runs of samples; the merged data is in files."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._phrases = [(Runs(scratch, np.uint32), Runs(scratch, np.uint8)) for _ in range(2)]
        self._pairs, self._first_samples = Runs(scratch, np.uint8), [0]

    def add(self, run: Arrays) -> None:
        """Add the next run, as `Inventory.as_run` gives it."""
        for (begins, lengths), side in zip(self._phrases, SIDES, strict=True):
            begins.append(run[f"{side}.begins"])
            lengths.append(run[f"{side}.lengths"])
        self._pairs.append(run["pairs"])
        self._first_samples.append(n_samples := self._first_samples[-1] + int(run["n_samples"][0]))
        if n_samples > MOST_WORDS:
            raise HyperbatonError(f"{n_samples:,} samples; the maximum is {MOST_WORDS:,}: use a lower --max-length")

    def finish(self, bitext: Bitext) -> Inventory:
        """The inventory of all samples."""
        scratch, merged = self._scratch, []
        for text in (bitext.source, bitext.target):
            begins, lengths = self._phrases.pop(0)  # removes the runs
            merged.append(merge_phrases(begins.finish(), lengths.finish(), text.tokens, text.vocabulary, scratch))
        (source, source_numbers), (target, target_numbers) = merged
        runs, numbers = self._pairs.finish(), list(zip(source_numbers, target_numbers, strict=True))
        offsets, targets = Column(scratch, np.int64), Column(scratch, np.uint32)
        counts, sample_order = PackedColumn(scratch), Column(scratch, np.uint32)
        merger = _core.PairMerger(numbers=numbers, runs=runs, first_samples=self._first_samples[:-1])
        n_samples = scratch.at_most(_MERGED, _MERGED_BYTES)
        n_released = [0] * len(runs)
        while len((batch := merger.next(n_samples))[0]):
            sources, batch_targets, batch_counts, samples = batch
            offsets.append(len(targets) + np.searchsorted(sources, np.arange(len(offsets), int(sources[-1]) + 1)))
            targets.append(batch_targets)
            counts.append(batch_counts)
            sample_order.append(samples)
            n_read = merger.n_read()
            for run, begin, end in zip(runs, n_released, n_read, strict=True):
                scratch.release(run, slice(begin, end))
            n_released = n_read
        offsets.append(np.full(len(source) + 1 - len(offsets), len(targets)))
        return Inventory(source, target, offsets.finish(), targets.finish(), counts.finish(), sample_order.finish())


def merge_phrases(
    begins: Sequence[Array], lengths: Sequence[Array], words: WordIds, vocabulary: Vocabulary, scratch: Scratch
) -> tuple[Phrases, list[Array]]:
    """Merge runs of distinct phrases of a text in byte order; returns all phrases, and the new numbers of each run's."""
    ends = [0, *accumulate(map(len, lengths))]
    whole = scratch.array(ends[-1], np.uint32)
    numbers = [whole[begin:end] for begin, end in pairwise(ends)]
    merged_begins, merged_lengths = scratch.array(ends[-1], np.uint32), scratch.array(ends[-1], np.uint8)
    n = _core.merge_phrases(
        phrases=[Phrases(*run, words, vocabulary).core for run in zip(begins, lengths, strict=True)],
        spelling=vocabulary.spelling,
        begins=merged_begins,
        lengths=merged_lengths,
        numbers=numbers,
    )
    return Phrases(merged_begins[:n], merged_lengths[:n], words, vocabulary), numbers


def number_phrases(
    text: Text,
    sentence: npt.NDArray[np.uint32],
    begin: npt.NDArray[np.uint16],
    length: npt.NDArray[np.uint8],
    resources: Resources,
) -> tuple[Phrases, npt.NDArray[np.uint32]]:
    """Number the phrases at the given spans; returns them, and the number of each span's phrase."""
    words = text.vocabulary
    begins, lengths, ids = _core.number_phrases(
        text.core_tokens, words.spelling, sentence, begin, length, resources.threads, resources.progress
    )
    return Phrases(begins, lengths, text.tokens, words), ids


def number_rows(
    words: WordIds, offsets: Offsets, vocabulary: Vocabulary, threads: int | None = None
) -> tuple[Phrases, npt.NDArray[np.uint32]]:
    """Number phrases that are rows of words; returns the distinct ones, and the number of each row's phrase."""
    n = len(offsets) - 1
    begin, length = np.zeros(n, np.uint16), np.diff(offsets).astype(np.uint8)
    text = Text(words, offsets, vocabulary)
    phrases, ids = number_phrases(text, np.arange(n, dtype=np.uint32), begin, length, Resources.of(threads))
    return phrases.side_by_side(), ids
