"""The blocks of training paths and their prior p₀(t, j | s), XI11 eq. 4–7.

C(s, t) / C(s) is shared equally among the 11 jumps (eq. 4, `flat`), or multiplied by

    p(j | s, t) = α p_l(j | s, t) + (1 − α) p_g(j)                                                eq. 6, `smoothed`

with p_l from the jumps of the pair, and p_g from those of all one-word blocks with the same tag, or of all blocks of the
same length if there are more words or no tags (eq. 7). The rows of p_g are smoothed with a few counts so that no jump is
impossible: those of tags with the row of one-word blocks, those of lengths with the uniform distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.forms import Layout
from hyperbaton.base.progress import Progress
from hyperbaton.base.store import check_numbers, check_offsets
from hyperbaton.corpus import Vocabulary

JUMPS = tuple(_core.block_jumps())  # by class
N_JUMPS = len(JUMPS)
N_LENGTHS = 8  # blocks of this many words or more share a row
EMPTY_TAG = _core.EMPTY_TAG  # of the empty target
_PSEUDO = 5.0  # counts that smooth a row of p_g


@dataclass(frozen=True)
class BlockTable(ArrayFields):
    """Source phrases, targets and pairs of blocks, as columns.

    Phrase p has the words `words[offsets[p]:offsets[p + 1]]`; pairs of source phrase p are rows `offsets[p]` to
    `offsets[p + 1]`, frequent ones first. `jumps` (n_pairs, 11) counts the jumps 5 … −5 of each pair.
    """

    source_keys: npt.NDArray[np.uint64]
    target_keys: npt.NDArray[np.uint64]
    source_offsets: npt.NDArray[np.int64]
    source_words: npt.NDArray[np.uint32]
    target_offsets: npt.NDArray[np.int64]
    target_words: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    targets: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint32]
    jumps: npt.NDArray[np.uint32]  # (n_pairs, 11)
    tag_jumps: npt.NDArray[np.uint32]  # (n_tags, 11)
    length_jumps: npt.NDArray[np.uint32]  # (N_LENGTHS, 11)

    LAYOUT: ClassVar[Layout] = {
        "source_keys": "u8 n_sources",
        "target_keys": "u8 n_targets",
        "source_offsets": "i8 n_sources+1",
        "source_words": "u4 *",
        "target_offsets": "i8 n_targets+1",
        "target_words": "u4 *",
        "offsets": "i8 n_sources+1",
        "targets": "u4 n_pairs",
        "counts": "u4 n_pairs",
        "jumps": f"u4 n_pairs {N_JUMPS}",
        "tag_jumps": f"u4 n_tags {N_JUMPS}",
        "length_jumps": f"u4 {N_LENGTHS} {N_JUMPS}",
    }

    @classmethod
    def of(cls, bitext: _core.BlockBitext, n_tags: int, threads: int, progress: Progress | None) -> BlockTable:
        columns = _core.count_blocks(bitext, n_tags=n_tags, n_lengths=N_LENGTHS, n_threads=threads, progress=progress)
        return cls(**columns)

    @property
    def n_steps(self) -> int:
        """The number of blocks on all paths."""
        return int(self.counts.sum())

    @cached_property
    def by_length(self) -> npt.NDArray[np.float64]:
        """p_g(j | length), shape (N_LENGTHS, 11)."""
        counts = self.length_jumps + _PSEUDO / N_JUMPS
        return np.ascontiguousarray(counts / counts.sum(axis=1, keepdims=True))

    @cached_property
    def by_tag(self) -> npt.NDArray[np.float64]:
        """p_g(j | tag), shape (n_tags, 11)."""
        counts = self.tag_jumps + _PSEUDO * self.by_length[0]
        return np.ascontiguousarray(counts / counts.sum(axis=1, keepdims=True))

    def target_tags(self, word_tags: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """The tag of each target: that of its last word; if `word_tags` is empty, all words have the tag 0."""
        tags = np.full(len(self.target_keys), EMPTY_TAG, np.uint32)
        full = np.diff(self.target_offsets) > 0
        last = self.target_words[self.target_offsets[1:][full] - 1]
        tags[full] = word_tags[last] if len(word_tags) else 0
        return tags

    def core(self, word_tags: npt.NDArray[np.uint32], *, smoothed: bool, alpha: float) -> _core.BlockTable:
        return _core.BlockTable(
            self.source_keys,
            self.target_keys,
            self.offsets,
            self.targets,
            self.counts,
            self.jumps,
            self.target_tags(word_tags),
            prior=_core.BlockPrior(by_tag=self.by_tag, by_length=self.by_length, smoothed=smoothed, alpha=alpha),
        )

    def source(self, number: int, vocabulary: Vocabulary) -> str:
        """A source phrase as text."""
        words = self.source_words[self.source_offsets[number] : self.source_offsets[number + 1]]
        return " ".join(map(vocabulary.word, words))

    def target(self, number: int, vocabulary: Vocabulary) -> str:
        """A target as text, "" for the empty one."""
        words = self.target_words[self.target_offsets[number] : self.target_offsets[number + 1]]
        return " ".join(map(vocabulary.word, words))

    def check(self, source: Vocabulary, target: Vocabulary) -> None:
        """Raise DamagedError unless the words of all phrases are those of the vocabularies; the core checks the rest."""
        check_offsets(self.source_offsets, len(self.source_words))
        check_offsets(self.target_offsets, len(self.target_words))
        check_numbers(self.source_words, len(source), "word")
        check_numbers(self.target_words, len(target), "word")
