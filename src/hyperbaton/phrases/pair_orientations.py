"""Moses' orientations of the occurrences of phrase pairs, from which reordering tables are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import DamagedError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.small import SmallNumbers
from hyperbaton.base.store import Arrays, check_offsets, group
from hyperbaton.corpus.text import Offsets
from hyperbaton.phrases.inventory import Inventory
from hyperbaton.phrases.pair_values import PhraseCounts
from hyperbaton.phrases.samples import Samples
from hyperbaton.phrases.table import PhraseTable

# Memory for an orientation: the number of its sample, and the orientation.
_BYTES = 16


class OrientationGroups(NamedTuple):
    """Orientations of consecutive groups of samples; those of group k are `packed[offsets[k]:offsets[k + 1]]`."""

    offsets: Offsets
    packed: npt.NDArray[np.uint16]


@dataclass(frozen=True)
class PairOrientations:
    """The orientations of the samples of each phrase pair, packed as in `Samples`, in the order of the pairs.

    Pairs of source phrase p are those from `offsets[p]` to `offsets[p + 1]`; `counts` has the number of samples of each.
    All extracted pairs are included, even those that a minimum count drops from the phrase table.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a b a"], ["x y x"], [[(0, 0), (1, 1), (2, 2)]])
    >>> samples = extract(bitext)
    >>> orientations = PairOrientations.of(Inventory.of(bitext, samples), samples)
    >>> len(orientations), orientations.counts[:].tolist()
    (6, [1, 1, 2, 1, 1])
    """

    offsets: Offsets
    counts: SmallNumbers
    packed: npt.NDArray[np.uint16]

    # Without offsets and counts, the pairs are those of the phrase table.
    LAYOUT: ClassVar[Layout] = {
        "offsets?": "i8 n_source_phrases+1",
        **within("counts?", SmallNumbers.LAYOUT),
        "packed": "u2 n_samples",
    }

    @classmethod
    def of(cls, inventory: Inventory, samples: Samples, scratch: Scratch | None = None) -> PairOrientations:
        """The orientations of the samples of an inventory; they are stored in `scratch`."""
        scratch, order = scratch or Scratch(), inventory.sample_order
        packed = scratch.filled(len(order), np.uint16, _BYTES, lambda rows: samples.orientations[order[rows]])
        return cls(inventory.offsets, inventory.counts, packed)

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.packed)

    @property
    def n_pairs(self) -> int:
        """Number of phrase pairs."""
        return len(self.counts)

    def groups(self, scratch: Scratch, row_bytes: int, *, by_source: bool) -> Iterator[OrientationGroups]:
        """The groups of all pairs, or of all source phrases, in pieces that fit into memory if one takes `row_bytes`."""
        n_groups, first = len(self.offsets) - 1 if by_source else self.n_pairs, 0
        for rows in scratch.rows(n_groups, row_bytes) if n_groups else [slice(0, 0)]:
            bounds = self.offsets[rows.start : rows.stop + 1] if by_source else np.arange(rows.start, rows.stop + 1)
            ends = offsets_of(self.counts[bounds[0] : bounds[-1]])
            yield OrientationGroups(ends[bounds - bounds[0]], self.packed[first : first + ends[-1]])
            first += int(ends[-1])

    def select(self, keep: npt.NDArray[np.bool_], offsets: Offsets) -> PairOrientations:
        """The orientations of the pairs where `keep` is true; `offsets` gives those of each source phrase."""
        counts = self.counts[:]
        return PairOrientations(offsets, SmallNumbers.of([counts[keep]]), self.packed[np.repeat(keep, counts)])

    def arrays(self, prefix: str, table: PhraseTable) -> dict[str, Array]:
        """Everything as named arrays, stored with the phrase table."""
        arrays: dict[str, Array] = {f"{prefix}.packed": self.packed}
        if self.n_pairs != len(table):
            arrays |= {f"{prefix}.offsets": self.offsets, **self.counts.arrays(f"{prefix}.counts")}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays, table: PhraseTable) -> PairOrientations:
        """The inverse of `arrays`, names without the prefix."""
        if "offsets" in arrays:
            counts = SmallNumbers.from_arrays(group(arrays, "counts"))
            return cls(arrays["offsets"], counts, arrays["packed"])
        if not isinstance(table.counts, PhraseCounts):
            raise DamagedError("the phrase table has no counts of samples")
        return cls(table.offsets, table.counts.pairs, arrays["packed"])

    def check(self) -> None:
        """Raise DamagedError unless all numbers fit; for code that reads all of them without the core."""
        check_offsets(self.offsets, self.n_pairs)
        self.counts.check()
        if self.counts.sum() != len(self):
            raise DamagedError("the counts of phrase pairs do not fit their orientations")
