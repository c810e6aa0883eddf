"""Extraction and scoring of all phrase pairs of a bitext, with the orientations of their samples, as one artefact.

Parts of the sentence pairs give sorted runs of phrases and pairs, which are merged; then ranges of source phrases are
scored. Runs are merged in the order of the text, so the result depends neither on the parts nor on who extracts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import DamagedError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.options import to_mapping
from hyperbaton.base.packed import PackedNumbers
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.store import Arrays, Artefact, Kind, check_offsets, group, read_artefact, save
from hyperbaton.base.workers import Shared, load_arrays, save_arrays
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.bitext import need_bitext
from hyperbaton.corpus.lengths import TextLengths
from hyperbaton.corpus.text import Offsets
from hyperbaton.phrases.inventory import Inventory, InventoryMerge
from hyperbaton.phrases.pair_values import PhraseCounts
from hyperbaton.phrases.samples import Extraction, Samples, extract_range
from hyperbaton.phrases.table import LexicalWeights, PhraseTable, Scoring

KIND = "phrases"
PART = 50_000  # sentence pairs that a worker extracts from in a task
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
    counts: PackedNumbers
    packed: npt.NDArray[np.uint16]

    # Without offsets and counts, the pairs are those of the phrase table.
    LAYOUT: ClassVar[Layout] = {
        "offsets?": "i8 n_source_phrases+1",
        "counts?": "packed n_pairs",
        "packed": "u2 n_samples",
    }

    @classmethod
    def of(cls, inventory: Inventory, samples: Samples, scratch: Scratch | None = None) -> PairOrientations:
        """The orientations of the samples of an inventory; they are stored in `scratch`."""
        scratch, order = scratch or Scratch(), inventory.sample_order
        packed = scratch.filled(len(order), np.uint16, _BYTES, lambda rows: samples.orientations[order[rows]])
        return cls(inventory.offsets, inventory.counts, packed)

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def n_pairs(self) -> int:
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
        return PairOrientations(offsets, PackedNumbers.of_pieces([counts[keep]]), self.packed[np.repeat(keep, counts)])

    def arrays(self, prefix: str, table: PhraseTable) -> dict[str, Array]:
        arrays: dict[str, Array] = {f"{prefix}.packed": self.packed}
        if self.n_pairs != len(table):
            arrays |= {f"{prefix}.offsets": self.offsets, f"{prefix}.counts": self.counts.words}
        return arrays

    @classmethod
    def restored(cls, arrays: Arrays, table: PhraseTable) -> PairOrientations:
        if "offsets" in arrays:
            return cls(arrays["offsets"], PackedNumbers(arrays["counts"]), arrays["packed"])
        if not isinstance(table.counts, PhraseCounts):
            raise DamagedError("the phrase table has no counts of samples")
        return cls(table.offsets, table.counts.pairs, arrays["packed"])

    def check(self) -> None:
        """Raise DamagedError unless all numbers fit; for code that reads all of them without the core."""
        check_offsets(self.offsets, self.n_pairs)
        if self.counts[:].sum(dtype=np.int64) != len(self):
            raise DamagedError("the counts of phrase pairs do not fit their orientations")


STORED = Kind(
    KIND,
    {
        **within("table", PhraseTable.LAYOUT),
        **within("orientations", PairOrientations.LAYOUT, n_source_phrases="table.source.n"),
    },
    {"options": {"min-count": int}, "details": {"n_sentences": int}},
)


@dataclass(frozen=True)
class ExtractedPhrases:
    """The scored phrase pairs of a bitext, and the orientations of their samples.

    The samples themselves are not stored; `hyperbaton.phrases.extract` recomputes them.
    """

    table: PhraseTable
    orientations: PairOrientations

    def save(
        self,
        path: str | PathLike[str],
        bitext: Bitext,
        extraction: Extraction | None = None,
        scoring: Scoring | None = None,
        *,
        pruning: Mapping[str, object] | None = None,
    ) -> None:
        """Write everything as one artefact; `pruning` describes how it was pruned."""
        type(self).write(path, lambda: self, bitext, extraction, scoring, pruning=pruning)

    @classmethod
    def write(
        cls,
        path: str | PathLike[str],
        make: Callable[[], ExtractedPhrases],
        bitext: Bitext,
        extraction: Extraction | None = None,
        scoring: Scoring | None = None,
        *,
        pruning: Mapping[str, object] | None = None,
    ) -> ExtractedPhrases:
        """Write and open the result of `make`; the temporary file of an array is removed once the array is written."""
        phrases = make()
        table, orientations = phrases.table, phrases.orientations
        arrays = {**table.arrays("table"), **orientations.arrays("orientations", table)}
        details = {
            "n_sentences": len(bitext),
            "n_samples": len(orientations),
            "n_source_phrases": len(table.source),
            "n_target_phrases": len(table.target),
            "n_pairs": len(table),
        }
        del phrases, table, orientations
        options = {**to_mapping(extraction or Extraction()), **to_mapping(scoring or Scoring()), **(pruning or {})}
        pieces = ((name, arrays.pop(name)) for name in list(arrays))
        save(path, STORED, pieces, options=options, inputs={"bitext": bitext.signature()}, details=details)
        return cls.load(path)

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads all of them without the core."""
        self.table.check()
        self.orientations.check()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ExtractedPhrases:
        """Open the artefact, memory-mapped."""
        return read_artefact(path, STORED, cls._read)

    @classmethod
    def _read(cls, artefact: Artefact) -> ExtractedPhrases:
        table = PhraseTable.from_arrays(artefact.group("table"))
        return cls(table, PairOrientations.restored(artefact.group("orientations"), table))


def extract_phrases(
    bitext: Bitext,
    extraction: Extraction | None = None,
    scoring: Scoring | None = None,
    *,
    resources: Resources | None = None,
) -> ExtractedPhrases:
    """Extract and score the phrase pairs of a bitext with links.

    With a scratch the work is done in pieces that fit into its memory; the result does not change.
    """
    need_bitext(bitext, "extract")
    resources, extraction, scoring = resources or Resources.of(), extraction or Extraction(), scoring or Scoring()
    bitext.need_links()
    workers, scratch = resources.workers, resources.scratch
    shared = workers.share(bitext, lambda path: save_arrays(path, bitext.arrays()), partial(_load, bitext.source.path))
    task, ranges = _Finding(shared, extraction.max_length, resources.tasks()), workers.ranges(len(bitext), PART)
    if len(ranges) == 1:
        samples, pairs = task.find(*ranges[0])
    else:
        samples, pairs = _merged(bitext, workers.map_arrays(task, ranges), resources, len(ranges))
    orientations = PairOrientations.of(pairs, samples, scratch)
    samples = samples.without("source_length", "target_length", "orientations")
    weights = LexicalWeights.of(bitext, samples, pairs, resources=resources)
    del samples
    pairs = pairs.without_samples()
    return ExtractedPhrases(PhraseTable.scored(pairs, weights, scoring, scratch, TextLengths.of(bitext)), orientations)


def _load(name: str | None, path: Path) -> Bitext:
    """The bitext, of which only the pages in use are read; `name` is that of the source text, for messages."""
    bitext = Bitext.from_arrays(load_arrays(path))
    return replace(bitext, source=replace(bitext.source, path=name))


@dataclass(frozen=True)
class _Finding:
    """Finds the samples, phrases and pairs of a part of the sentence pairs."""

    bitext: Shared[Bitext]
    max_length: int
    resources: Resources

    def find(self, begin: int, end: int) -> tuple[Samples, Inventory]:
        bitext, resources = self.bitext.value, self.resources
        samples = extract_range(bitext, begin, end, self.max_length, resources)
        samples = samples.without("distance_before", "distance_after")  # frees their room
        threads, progress, scratch = resources.threads, resources.progress, resources.scratch
        return samples, Inventory.of(bitext, samples, threads=threads, progress=progress, scratch=scratch)

    def __call__(self, part: tuple[int, int]) -> dict[str, Array]:
        samples, pairs = self.find(*part)
        return {**samples.arrays("samples"), **pairs.as_run()}


def _merged(bitext: Bitext, parts: Iterable[Arrays], resources: Resources, n: int) -> tuple[Samples, Inventory]:
    """The samples and pairs of all parts; progress counts parts."""
    merge, columns, n_samples = InventoryMerge(resources.scratch), dict[str, Column](), 0
    for number, part in enumerate(parts, start=1):
        samples = dict(group(part, "samples"))
        samples["offsets"] = samples["offsets"][number > 1 :] + n_samples
        n_samples += len(samples["sentence"])
        for name, column in samples.items():
            columns.setdefault(name, Column(resources.scratch, column.dtype)).append(column)
        merge.add(part)
        resources.report(number, n)
    arrays = {name: column.finish() for name, column in columns.items()}
    return Samples.from_arrays(arrays), merge.finish(bitext)
