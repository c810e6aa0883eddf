"""The distinct phrases and phrase pairs of samples, numbered in the byte order of Moses' sorted files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.store import Arrays
from hyperbaton.corpus import Bitext, Text, Vocabulary
from hyperbaton.corpus.text import Offsets, WordIds
from hyperbaton.phrases.samples import Samples


@dataclass(frozen=True)
class Phrases:
    """Distinct phrases over a vocabulary: phrase p is `words[offsets[p]:offsets[p + 1]]`, in byte order."""

    offsets: Offsets
    words: WordIds
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, phrase: int) -> str:
        return " ".join(map(self.vocabulary.word, self.words[self.offsets[phrase] : self.offsets[phrase + 1]]))

    def __iter__(self) -> Iterator[str]:
        return (self[p] for p in range(len(self)))

    def number(self, phrase: str) -> int:
        """The number of a phrase, -1 if it has none. Takes time that grows with the logarithm of their number."""
        wanted = phrase.encode("utf-8") + b" |||"
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle].encode("utf-8") + b" |||" < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self[low] == phrase else -1

    def arrays(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for the store."""
        return {
            f"{prefix}.offsets": self.offsets,
            f"{prefix}.words": self.words,
            **self.vocabulary.arrays(f"{prefix}.vocabulary"),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Phrases:
        """The inverse of `arrays`, names without the prefix."""
        phrases = cls(arrays["offsets"], arrays["words"], Vocabulary.from_arrays(arrays, "vocabulary"))
        if len(phrases.offsets) == 0 or phrases.offsets[-1] != len(phrases.words):
            raise ValueError("the words of phrases do not fit their offsets")
        return phrases


@dataclass(frozen=True)
class Inventory:
    """Phrases of both sides, their pairs, and which samples belong to each pair.

    Pairs of source phrase p are those from `offsets[p]` to `offsets[p + 1]`, with the target phrases `targets`,
    increasing; samples of pair k are `sample_order[sample_offsets[k]:sample_offsets[k + 1]]`.
    """

    source: Phrases
    target: Phrases
    offsets: Offsets
    targets: npt.NDArray[np.uint32]
    sample_offsets: Offsets
    sample_order: npt.NDArray[np.uint32]

    @property
    def n_pairs(self) -> int:
        """Number of different phrase pairs."""
        return len(self.targets)

    @classmethod
    def of(
        cls, bitext: Bitext, samples: Samples, *, threads: int | None = None, progress: Progress | None = None
    ) -> Inventory:
        """Number the phrases and pairs of samples.

        >>> from hyperbaton.phrases import extract
        >>> bitext = Bitext.of(["a b a"], ["x y x"], [[(0, 0), (1, 1), (2, 2)]])
        >>> inventory = Inventory.of(bitext, extract(bitext))
        >>> list(inventory.source)
        ['a b a', 'a b', 'a', 'b a', 'b']
        """
        threads = threads or default_threads()
        source, source_ids = number_phrases(
            bitext.source, samples.sentence, samples.source_begin, samples.source_length, threads, progress
        )
        target, target_ids = number_phrases(
            bitext.target, samples.sentence, samples.target_begin, samples.target_length, threads, progress
        )
        return cls(source, target, *_core.pair_phrases(source_ids, target_ids, len(source), threads, progress))


def number_phrases(
    text: Text,
    sentence: npt.NDArray[np.uint32],
    begin: npt.NDArray[np.uint16],
    length: npt.NDArray[np.uint8],
    threads: int,
    progress: Progress | None = None,
) -> tuple[Phrases, npt.NDArray[np.uint32]]:
    """Number the phrases at the given spans; returns them, and the number of each span's phrase."""
    words = text.vocabulary
    offsets, flat, ids = _core.number_phrases(text.core_tokens, words.spelling, sentence, begin, length, threads, progress)
    return Phrases(offsets, flat, words), ids
