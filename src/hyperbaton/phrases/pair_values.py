"""Counts, scores and inner links of phrase pairs.

Counts and scores are computed when they are asked for. Most counts are small, and those of a phrase are shared by its
pairs. Relative frequencies follow from the counts, so a table of them stores only its lexical weights. Most pairs share
their links with many others, so each distinct set of links is stored once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers, gather
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.errors import DamagedError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.packed import PackedNumbers, by_frequency, core_numbers, stored, stored_numbers
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Arrays, check_numbers, check_offsets, group
from hyperbaton.corpus.text import Offsets

if TYPE_CHECKING:
    from hyperbaton.align.lexical import LexicalTable

Floats = npt.NDArray[np.float32]
Points = npt.NDArray[np.uint8]


class Owners:
    """The group of each item, computed for some of the items; group g has items `offsets[g]` to `offsets[g + 1]`.

    >>> owners = Owners(np.array([0, 2, 2, 5]))
    >>> owners[1:4].tolist(), owners[np.array([4, 0])].tolist()
    ([0, 2, 2], [2, 0])
    """

    def __init__(self, offsets: npt.NDArray[np.int64]) -> None:
        self._offsets = offsets

    def __getitem__(self, rows: slice | Integers) -> npt.NDArray[np.uint32]:
        if not isinstance(rows, slice):
            return (np.searchsorted(self._offsets, rows, side="right") - 1).astype(np.uint32)
        first = int(np.searchsorted(self._offsets, rows.start, side="right")) - 1
        last = int(np.searchsorted(self._offsets, rows.stop))
        bounds: npt.NDArray[np.int64] = np.clip(self._offsets[first : last + 1], rows.start, rows.stop)
        lengths = bounds[1:] - bounds[:-1]
        return np.repeat(np.arange(first, last, dtype=np.uint32), lengths)


class ComputedRows(ABC):
    """A two-dimensional array whose rows are computed when they are asked for, as in `rows[10:20]` or `rows[:, 2]`."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

    @abstractmethod
    def at(self, rows: slice | Integers) -> Floats:
        """Consecutive rows, with both bounds given, or those of some numbers from 0 on."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        rows, *columns = key if isinstance(key, tuple) else (key,)
        if isinstance(rows, int | np.integer):
            return self.at(np.array([range(len(self))[int(rows)]]))[(0, *columns)]
        return self.at(self._numbers(rows))[(slice(None), *columns)]

    def _numbers(self, rows: slice | Array) -> slice | Integers:
        """An index as for arrays, without steps, flags and negative numbers."""
        if not isinstance(rows, slice):
            rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
            return np.where(rows < 0, rows + len(self), rows)
        begin, end, step = rows.indices(len(self))
        return slice(begin, max(begin, end)) if step == 1 else np.arange(begin, end, step)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)


@dataclass(frozen=True)
class DistinctRows(ComputedRows, ArrayFields):
    """A table with many equal rows, such as probabilities of pairs that were seen once: row i is `rows[numbers[i]]`.

    >>> table = DistinctRows.of([np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([[0.5, 0.5]])])
    >>> table.numbers.tolist(), table[1:, 0].tolist(), table.or_zeros(np.array([-1, 1])).tolist()
    ([0, 1, 0], [0.25, 0.5], [[0.0, 0.0], [0.25, 0.75]])
    """

    numbers: npt.NDArray[np.uint32]
    rows: Floats

    LAYOUT: ClassVar[Layout] = {"numbers": "u4|packed n", "rows": "f4 n_distinct *"}

    @classmethod
    def of(cls, pieces: Iterable[Array]) -> DistinctRows:
        """The table of consecutive pieces, which need not be in memory at the same time."""
        distinct, numbers, width = _core.DistinctRows(), Column(Scratch(), np.uint32), 1
        for piece in pieces:
            width = piece.shape[1]
            numbers.append(distinct.add(np.ascontiguousarray(piece, np.float32)))
        return cls(numbers.finish(), distinct.rows(width))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.numbers), self.rows.shape[1]

    def at(self, rows: slice | Integers) -> Floats:
        numbers = self.numbers[rows]
        check_numbers(numbers, len(self.rows), "row")
        return self.rows[numbers]

    def or_zeros(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Some rows, in single precision; zeros for negative numbers."""
        return core_numbers(self.numbers).gather(self.rows, rows)

    def packed(self) -> DistinctRows:
        """The table with packed numbers, the most frequent row first."""
        order, numbers = by_frequency(self.numbers[:])
        return DistinctRows(PackedNumbers.of(numbers), self.rows[order])


@dataclass(frozen=True)
class PlainRows(ComputedRows):
    """Rows that are stored as they are."""

    values: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), self.values.shape[1]

    def at(self, rows: slice | Integers) -> Floats:
        return self.values[rows]

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]


@dataclass(frozen=True)
class PlainCounts(PlainRows):
    """Counts of phrase pairs as in a file; `PhraseCounts` has the same methods."""

    def select(self, keep: npt.NDArray[np.bool_], offsets: Offsets, targets: Array, scratch: Scratch) -> PlainCounts:
        return PlainCounts(scratch.select(self.values, keep))

    def renumbered(self, source: Integers, target: Integers, offsets: Offsets, targets: Array) -> PlainCounts:
        return self

    def packed(self, offsets: Offsets, targets: Array) -> PlainCounts:
        """No counts: nothing is computed from them."""
        return PlainCounts(np.zeros((len(self), 0), np.float32))

    def arrays(self, prefix: str) -> dict[str, Array]:
        return {f"{prefix}.counts": self.values}


@dataclass(frozen=True)
class PlainScores(PlainRows):
    """Any number of scores of phrase pairs: from a file, smoothed or packed; `CountedScores` has the same methods."""

    values: Any  # an array, or `DistinctRows` of a packed table

    def select(self, keep: npt.NDArray[np.bool_], counts: CountRows, scratch: Scratch) -> PlainScores:
        return PlainScores(scratch.select(self.values, keep))

    def over(self, counts: CountRows) -> PlainScores:
        return self

    def packed(self) -> PlainScores:
        """The scores as numbers of distinct rows."""
        return PlainScores(DistinctRows.of([self.values]).packed())

    def arrays(self, prefix: str) -> dict[str, Array]:
        values = self.values
        return values.arrays(f"{prefix}.score_rows") if isinstance(values, DistinctRows) else {f"{prefix}.scores": values}

    @property
    def core(self) -> _core.PairScores:
        values = self.values
        if isinstance(values, DistinctRows):
            return _core.PairScores(values.rows, core_numbers(values.numbers))
        return _core.PairScores(values)


@dataclass(frozen=True)
class PhraseCounts(ComputedRows):
    """Counts of phrase pairs: rows are the counts of the target phrase, the source phrase and the pair.

    `pairs`, `source` and `target` are the counts of pairs and of the phrases of each side; `offsets` and `targets` are
    those of the phrase table.

    >>> two, one = PackedNumbers.of(np.array([1, 2])), PackedNumbers.of(np.array([3]))
    >>> counts = PhraseCounts(two, one, two, np.array([0, 2]), np.array([0, 1], np.uint32))
    >>> counts[:].tolist(), float(counts[1, 2])
    ([[1.0, 3.0, 1.0], [2.0, 3.0, 2.0]], 2.0)
    """

    pairs: PackedNumbers
    source: PackedNumbers
    target: PackedNumbers
    offsets: Offsets
    targets: npt.NDArray[np.uint32]

    LAYOUT: ClassVar[Layout] = {"pairs": "packed n", "source": "packed n", "target": "packed n"}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.pairs), 3

    def columns(self, rows: slice | Integers) -> tuple[npt.NDArray[np.uint32], ...]:
        """The three counts of some of the pairs."""
        return self.target[self.targets[rows]], self.source[Owners(self.offsets)[rows]], self.pairs[rows]

    def at(self, rows: slice | Integers) -> Floats:
        return np.stack(self.columns(rows), axis=1).astype(np.float32)

    def select(self, keep: npt.NDArray[np.bool_], offsets: Offsets, targets: Array, scratch: Scratch) -> PhraseCounts:
        """The counts of the pairs where `keep` is true, which have these offsets and target phrases."""
        pieces = (self.pairs[rows][keep[rows]] for rows in scratch.rows(len(self), row_bytes=8))
        return replace(self, pairs=PackedNumbers.of_pieces(pieces, scratch), offsets=offsets, targets=targets)

    def renumbered(self, source: Integers, target: Integers, offsets: Offsets, targets: Array) -> PhraseCounts:
        """The counts of the same pairs, with only the phrases that have these numbers."""
        counts = PackedNumbers.of(self.source[source]), PackedNumbers.of(self.target[target])
        return PhraseCounts(self.pairs, *counts, offsets, targets)

    def packed(self, offsets: Offsets, targets: Array) -> PhraseCounts:
        """The packed counts of the same pairs, which have these offsets and target phrases."""
        pairs, source, target = (PackedNumbers.of(getattr(self, name)) for name in self.LAYOUT)
        return PhraseCounts(pairs, source, target, offsets, targets)

    def arrays(self, prefix: str) -> dict[str, Array]:
        return {f"{prefix}.phrase_counts.{name}": getattr(self, name).words for name in self.LAYOUT}

    @classmethod
    def restored(cls, arrays: Arrays, offsets: Offsets, targets: Array) -> PhraseCounts:
        pairs, source, target = (PackedNumbers(arrays[name]) for name in cls.LAYOUT)
        if (pairs.header_length, source.header_length) != (len(targets), len(offsets) - 1):
            raise DamagedError("the counts do not fit the phrase pairs")
        return cls(pairs, source, target, offsets, targets)

    @property
    def core(self) -> dict[str, _core.Numbers]:
        return {name: getattr(self, name).core for name in self.LAYOUT}


@dataclass(frozen=True)
class WordCounts(ArrayFields):
    """Counts of linked words, from which lexical weights follow; `align.lexical.LexicalTable` has their probabilities.

    `pairs` are the counts of the entries, `source` and `target` those of the words of each side, the empty word last.
    """

    offsets: Offsets
    targets: npt.NDArray[np.uint32]
    pairs: npt.NDArray[np.uint32]
    source: npt.NDArray[np.uint32]
    target: npt.NDArray[np.uint32]

    LAYOUT: ClassVar[Layout] = {
        "offsets": "i8|packed n_source+1",
        "targets": "u4|packed n",
        "pairs": "u4|packed n",
        "source": "u4|packed n_source",
        "target": "u4|packed n_target",
    }

    @classmethod
    def of(cls, lexical: LexicalTable) -> WordCounts | None:
        """The counts of a lexical table, if it comes from counts."""
        offsets, targets, counts = lexical.offsets, lexical.targets, lexical.counts
        if counts is None:
            return None
        n_source, n_target = len(lexical.source) + 1, len(lexical.target) + 1
        source = np.bincount(np.repeat(np.arange(n_source), np.diff(offsets)), counts, n_source)
        target = np.bincount(targets, counts, n_target)
        return cls(offsets, targets, counts, source.astype(np.uint32), target.astype(np.uint32))

    @property
    def core(self) -> _core.LexicalArrays:
        return _core.LexicalArrays(**{name: core_numbers(getattr(self, name)) for name in self.LAYOUT})


@dataclass(frozen=True)
class CountedScores(ComputedRows):
    """Moses' four scores of phrase pairs: relative frequencies p(s|t) and p(t|s), each before its lexical weight.

    `lexical` (n, 2) are the lexical weights, lex(s|t) and lex(t|s).
    """

    counts: PhraseCounts
    lexical: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.counts), 4

    def at(self, rows: slice | Integers) -> Floats:
        target, source, joint = self.counts.columns(rows)
        scores = np.empty((len(joint), self.shape[1]), np.float32)
        scores[:, 1::2] = self.lexical[rows]
        with np.errstate(divide="ignore", invalid="ignore"):  # of damaged counts
            scores[:, 0], scores[:, 2] = joint / target.astype(np.float64), joint / source.astype(np.float64)
        return scores

    def select(self, keep: npt.NDArray[np.bool_], counts: CountRows, scratch: Scratch) -> ScoreRows:
        """Scores of the kept pairs, given their counts."""
        return CountedScores(cast(PhraseCounts, counts), scratch.select(self.lexical, keep))

    def over(self, counts: CountRows) -> ScoreRows:
        """The scores with other counts, of renumbered phrases."""
        return CountedScores(cast(PhraseCounts, counts), self.lexical)

    def arrays(self, prefix: str) -> dict[str, Array]:
        return {f"{prefix}.lexical": self.lexical}

    @property
    def core(self) -> _core.PairScores:
        return _core.PairScores(lexical=self.lexical, **self.counts.core)


@dataclass(frozen=True)
class LinkedScores(CountedScores):
    """Scores of a packed table whose lexical weights are computed from counts of links, but for pairs `rows`.

    `lexical` are the weights of these pairs: others than the computed ones where two sets of links are equally frequent.
    """

    rows: npt.NDArray[np.uint32]
    words: WordCounts
    table: Any  # the phrase table without scores

    LAYOUT: ClassVar[Layout] = {**within("words", WordCounts.LAYOUT), "rows": "u4|packed n_rows", "stored": "f4 n_rows 2"}

    @classmethod
    def of(cls, scores: CountedScores, words: WordCounts, computed: Floats, table: Any) -> LinkedScores:
        """These scores of the pairs of a table, given the computed lexical weights."""
        rows = np.flatnonzero((computed != scores.lexical).any(axis=1))
        return cls(scores.counts, scores.lexical[rows], PackedNumbers.of(rows), words.packed(), table)

    @classmethod
    def restored(cls, arrays: Arrays, counts: PhraseCounts, table: Any) -> LinkedScores:
        words = WordCounts.from_arrays(group(arrays, "words"))
        return cls(counts, arrays["stored"], stored_numbers(arrays["rows"]), words, table)

    def at(self, rows: slice | Integers) -> Floats:
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else np.asarray(rows, np.int64)
        return self.table.arrays_view.scores(self.core, numbers, Owners(self.counts.offsets)[numbers])

    def select(self, keep: npt.NDArray[np.bool_], counts: CountRows, scratch: Scratch) -> PlainScores:
        return PlainScores(self[keep])

    def over(self, counts: CountRows) -> PlainScores:
        return PlainScores(self[:])

    def arrays(self, prefix: str) -> dict[str, Array]:
        own = {f"{prefix}.weights.rows": stored(self.rows), f"{prefix}.weights.stored": self.lexical}
        return own | self.words.arrays(f"{prefix}.weights.words")

    @property
    def core(self) -> _core.PairScores:
        rows = core_numbers(self.rows)
        return _core.PairScores(words=self.words.core, lexical=self.lexical, rows=rows, **self.counts.core)


CountRows = PlainCounts | PhraseCounts
ScoreRows = PlainScores | CountedScores


@dataclass(frozen=True)
class LinkSets(ArrayFields):
    """Inner links of phrase pairs: pair k has set `numbers[k]`, and set s is `points[offsets[s]:offsets[s + 1]]`.

    `points` (m, 2) are positions inside the phrases. Sets are numbered in the order of their first occurrence, or by how
    frequent they are.

    >>> links = LinkSets.of(np.array([0, 1, 3, 4]), np.array([[0, 0], [0, 0], [1, 1], [0, 0]], np.uint8))
    >>> links.numbers.tolist(), links[1].tolist()
    ([0, 1, 0], [[0, 0], [1, 1]])
    """

    numbers: npt.NDArray[np.uint32]
    offsets: Offsets
    points: Points

    LAYOUT: ClassVar[Layout] = {"numbers": "u4|packed n_pairs", "offsets": "i8|packed n_sets+1", "points": "u1 n_points 2"}

    @classmethod
    def of(cls, offsets: Offsets, points: Points) -> LinkSets:
        """The links of pairs: pair k has `points[offsets[k]:offsets[k + 1]]`."""
        column = LinkSetColumn(Scratch())
        column.append(offsets, points)
        return column.finish()

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, pair: int) -> Points:
        number = self.numbers[pair]
        return self.points[self.offsets[number] : self.offsets[number + 1]]

    def gather(self, pairs: Integers) -> tuple[Points, Offsets]:
        """The concatenated links of chosen pairs, and their offsets."""
        where, offsets = gather(self.offsets[:], self.numbers[pairs].astype(np.int64))
        return self.points[where], offsets

    def select(self, keep: npt.NDArray[np.bool_], scratch: Scratch) -> LinkSets:
        """The links of the pairs where `keep` is true; sets keep their numbers."""
        return replace(self, numbers=scratch.select(self.numbers, keep))

    def without_unused(self) -> LinkSets:
        """The links without sets that no pair has, the most frequent set first."""
        order, numbers = by_frequency(self.numbers)
        where, offsets = gather(self.offsets, order)
        return LinkSets(numbers, offsets, self.points[where])

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads all of them without the core."""
        check_offsets(np.asarray(self.offsets, np.int64), len(self.points))
        check_numbers(self.numbers, len(self.offsets) - 1, "set of links")


class LinkSetColumn:
    """Inner links that grow at their end; the distinct sets are in memory."""

    def __init__(self, scratch: Scratch) -> None:
        self._sets, self._numbers = _core.LinkSets(), Column(scratch, np.uint32)

    def append(self, offsets: Offsets, points: Points) -> None:
        """Add the links of pairs."""
        self._numbers.append(self._sets.add(offsets, points))

    def finish(self) -> LinkSets:
        """All links; nothing can be added after this."""
        return LinkSets(self._numbers.finish(), *self._sets.sets())
