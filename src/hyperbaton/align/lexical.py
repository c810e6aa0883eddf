"""Word translation probabilities p(t|s) and p(s|t), by relative frequency of links as in Moses, or from an aligner.

An unlinked word counts as linked to the other side's empty word, whose number follows that side's vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align.normalization import Normalization
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Bitext, Vocabulary
from hyperbaton.corpus.text import Offsets, WordIds

SMALLEST = 1e-7
LinkCounts = tuple[Offsets, WordIds, npt.NDArray[np.uint32]]
_Counted = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]  # word pairs in order, and their counts


@dataclass(frozen=True)
class LexicalTable:
    """Probabilities of word pairs, by source word.

    The entries of source word s are `targets[offsets[s]:offsets[s + 1]]`, increasing; the last row is the empty source
    word's. `probabilities` has the shape (entries, 2): p(target|source), p(source|target). If the words are
    normalised forms of those of the text, `normalizations` says how they were normalised. `counts` of the entries are
    known if the probabilities are relative frequencies.
    """

    source: Vocabulary
    target: Vocabulary
    offsets: Offsets
    targets: WordIds
    probabilities: npt.NDArray[np.float64]
    normalizations: tuple[Normalization, Normalization] = (Normalization(lowercase=False), Normalization(lowercase=False))
    counts: npt.NDArray[np.uint32] | None = None

    @classmethod
    def from_links(cls, bitext: Bitext, threads: int | None = None, *, scratch: Scratch | None = None) -> LexicalTable:
        """Count the links of a bitext; with `scratch`, some sentence pairs at a time.

        Probabilities are rounded to seven decimals, the precision of Moses' files, so that lexical weights equal those of
        Moses; none is rounded to zero.

        >>> LexicalTable.from_links(Bitext.of(["a b"], ["x y"], [[(0, 0)]])).translations("a")
        [('x', 1.0, 1.0)]
        """
        offsets, targets, counts = link_counts(bitext, Resources.of(threads, scratch=scratch))
        source, target = bitext.source.vocabulary, bitext.target.vocabulary
        sources = np.repeat(np.arange(len(source) + 1), np.diff(offsets))
        by_source = np.bincount(sources, counts, len(source) + 1)
        by_target = np.bincount(targets, counts, len(target) + 1)
        exact = np.stack([counts / by_source[sources], counts / by_target[targets]], axis=1)
        return cls(source, target, offsets, targets, np.maximum(np.round(exact, 7), SMALLEST), counts=counts)

    @classmethod
    def with_empty_words(
        cls,
        source: Vocabulary,
        target: Vocabulary,
        starts: Offsets,
        targets: WordIds,
        probabilities: npt.NDArray[np.float32],
        targets_of_empty: npt.NDArray[np.float32],
        sources_of_empty: npt.NDArray[np.float32],
    ) -> LexicalTable:
        """Add the empty words' probabilities p(t|empty) and p(s|empty) to those of word pairs."""
        rows = np.insert(probabilities.astype(np.float64), starts[1:], 0.0, axis=0)
        ends = starts[1:] + np.arange(len(source))  # each row's last entry is now the empty target word
        rows[ends, 1] = sources_of_empty
        last = np.stack([targets_of_empty, np.zeros(len(target))], axis=1)
        return cls(
            source,
            target,
            np.concatenate([starts + np.arange(len(starts)), [len(rows) + len(target)]]).astype(np.int64),
            np.concatenate([np.insert(targets, starts[1:], len(target)), np.arange(len(target))]).astype(np.uint32),
            np.concatenate([rows, last]),
        )

    def numbers(self, source: Vocabulary, target: Vocabulary) -> tuple[WordIds, WordIds]:
        """The numbers of the words of other vocabularies in this table; the largest integer for unknown words."""
        source_numbers, target_numbers = (
            np.arange(len(own), dtype=np.uint32) if own is words else normalization.numbers(words, own)
            for words, own, normalization in zip(
                (source, target), (self.source, self.target), self.normalizations, strict=True
            )
        )
        return source_numbers, target_numbers

    def translations(self, word: str) -> list[tuple[str, float, float]]:
        """(target word, p(target|source), p(source|target)) of a source word, the likeliest first.

        The word may be written as in the text: it is lower-cased or cut to its stem if the words of the table are.
        """
        number = self.source.number(self.normalizations[0].form(word))
        if number < 0:
            return []
        rows = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        entries = [
            (int(t), float(p[0]), float(p[1])) for t, p in zip(self.targets[rows], self.probabilities[rows], strict=True)
        ]
        pairs = [(self.target.word(t), forward, backward) for t, forward, backward in entries if t < len(self.target)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


# Memory for counting links, per source word.
_BYTES = 64


def link_counts(bitext: Bitext, resources: Resources) -> LinkCounts:
    """Counts of linked word pairs: offsets by source word, target words, counts; with empty words as above."""
    ranges = resources.scratch.ranges(bitext.source.offsets, _BYTES)
    if len(ranges) <= 1:
        return count_links(bitext, 0, len(bitext), resources.threads)
    return sum_link_counts(bitext, (count_links(bitext, begin, end, resources.threads) for begin, end in ranges))


def sum_link_counts(bitext: Bitext, parts: Iterable[LinkCounts]) -> LinkCounts:
    """Counts of the links of a bitext from those of its parts.

    Sums of about equal size are added, so that each of n parts takes part in only log₂ n additions.
    """
    n_rows = len(bitext.source.vocabulary) + 1
    sums: list[_Counted] = [(np.zeros(0, np.uint64), np.zeros(0, np.int64))]
    for offsets, targets, counts in parts:
        sources = np.repeat(np.arange(n_rows, dtype=np.uint64), np.diff(offsets))
        sums.append((sources << np.uint64(32) | targets, counts.astype(np.int64)))
        while len(sums) > 1 and len(sums[-2][0]) <= 2 * len(sums[-1][0]):
            sums.append(_added(sums.pop(), sums.pop()))
    keys, total = reduce(_added, reversed(sums))
    starts = np.searchsorted(keys, np.arange(n_rows + 1, dtype=np.uint64) << np.uint64(32)).astype(np.int64)
    return starts, (keys & np.uint64(0xFFFFFFFF)).astype(np.uint32), total.astype(np.uint32)


def _added(one: _Counted, other: _Counted) -> _Counted:
    keys, where = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    np.add.at(counts, where, np.concatenate([one[1], other[1]]))
    return keys, counts


def count_links(bitext: Bitext, begin: int, end: int, n_threads: int) -> LinkCounts:
    """Counts of linked word pairs in sentence pairs [begin, end)."""
    links, texts = bitext.need_links(), (bitext.source, bitext.target)
    offsets = [text.offsets[begin : end + 1] for text in texts]
    source, target = (
        _core.Tokens(words=text.tokens[own[0] : own[-1]], offsets=own - own[0])
        for text, own in zip(texts, offsets, strict=True)
    )
    first, last = links.offsets[begin], links.offsets[end]
    return _core.lexical_counts(
        source,
        target,
        links.points[first:last],
        links.offsets[begin : end + 1] - first,
        len(bitext.source.vocabulary),
        len(bitext.target.vocabulary),
        n_threads,
    )
