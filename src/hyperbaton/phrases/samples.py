"""Samples: every occurrence of a consistent phrase pair in an aligned bitext, as columns.

A phrase pair is consistent if its box in the alignment matrix contains a link, and all links in its rows and columns.
The distance d = last source position of the previous phrase + 1 - first source position of this one (Ni 2011, eq. 1,
with its sign): d < 0 jumps forward, 0 is monotone, d > 0 goes back. In training the previous phrase is not known, so its
last source position is the greatest one linked to the nearest linked target word on the left, -1 if there is none.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.columns import ArrayFields, Sliceable
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.options import Arguments, CheckedOptions, option
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.shown import Display
from hyperbaton.base.store import Kind, read_artefact, save
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.bitext import need_bitext

if TYPE_CHECKING:
    import pandas
    import pyarrow

KIND = "samples"
SIDES, UNITS = ("before", "after"), ("word", "phrase", "hierarchical")  # of Moses' orientations
# The meanings of the two bits of an orientation.
FOUR = ("monotone", "swap", "discontinuous left", "discontinuous right")


class Sample(NamedTuple):
    """One occurrence of a phrase pair; spans are half-open.

    `source` and `target` are the words, None if the bitext of the samples is unknown. `orientations` has Moses'
    orientations by name, `word_before` to `hierarchical_after`.
    """

    sentence: int
    source_span: tuple[int, int]
    target_span: tuple[int, int]
    source: str | None
    target: str | None
    distance_before: int
    distance_after: int
    orientations: dict[str, str]


@dataclass(frozen=True, repr=False)
class Samples(Display, ArrayFields, Sliceable[Sample]):
    """Columns of samples, in the order of the sentence pairs; 16 bytes each.

    `source_begin`, `source_length`, `target_begin` and `target_length` give the spans in words; `distance_before` is d
    towards the previous phrase, `distance_after` is d towards the next; `orientations` packs Moses' orientations
    (see `hyperbaton.phrases.orientation`). Samples of sentence pair s are those from `offsets[s]` to `offsets[s + 1]`.
    `bitext` is their bitext, if it is known; it is not saved.

    >>> bitext = Bitext.of(["wo zai jia chi"], ["i eat at home"], [[(0, 0), (1, 2), (2, 3), (3, 1)]])
    >>> samples = extract(bitext, max_length=2)
    >>> samples[1].source, samples[1].target, samples[1].distance_before, samples[1].orientations["word_before"]
    ('chi', 'eat', -2, 'discontinuous right')
    >>> [sample.source for sample in samples[:2]]
    ['wo', 'chi']
    """

    sentence: npt.NDArray[np.uint32]
    source_begin: npt.NDArray[np.uint16]
    source_length: npt.NDArray[np.uint8]
    target_begin: npt.NDArray[np.uint16]
    target_length: npt.NDArray[np.uint8]
    distance_before: npt.NDArray[np.int16]
    distance_after: npt.NDArray[np.int16]
    orientations: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]
    bitext: Bitext | None = field(default=None, compare=False)

    LAYOUT: ClassVar[Layout] = {
        "sentence": "u4 n",
        "source_begin": "u2 n",
        "source_length": "u1 n",
        "target_begin": "u2 n",
        "target_length": "u1 n",
        "distance_before": "i2 n",
        "distance_after": "i2 n",
        "orientations": "u2 n",
        "offsets": "i8 n_sentences+1",
    }

    def __len__(self) -> int:
        return len(self.sentence)

    def facts(self) -> dict[str, int]:
        return {"samples": len(self), "sentence pairs": len(self.offsets) - 1}

    noun: ClassVar = "sample"

    def sliced(self, places: npt.NDArray[np.int64]) -> Samples:
        if (np.diff(places) < 0).any():
            raise OptionError("samples stay in the order of the sentence pairs: a slice cannot go backwards")
        keep = np.zeros(len(self), bool)
        keep[places] = True
        return self.select(keep)

    def item(self, at: int) -> Sample:
        row = {name: column[0] for name, column in self.part(slice(at, at + 1)).readable().items()}
        return Sample(
            int(row["sentence"]),
            (int(row["source_begin"]), int(row["source_end"])),
            (int(row["target_begin"]), int(row["target_end"])),
            row.get("source"),
            row.get("target"),
            int(row["distance_before"]),
            int(row["distance_after"]),
            {f"{unit}_{side}": row[f"{unit}_{side}"] for side in SIDES for unit in UNITS},
        )

    def columns(self) -> dict[str, Array]:
        """All stored columns but `offsets`, by name."""
        return {name: getattr(self, name) for name in self.LAYOUT if name != "offsets"}

    def readable(self) -> dict[str, Array]:
        """The samples as readable columns: words if the bitext is known, half-open spans, orientations by name."""
        spans = {side: (getattr(self, f"{side}_begin"), getattr(self, f"{side}_length")) for side in ("source", "target")}
        table: dict[str, Array] = {"sentence": self.sentence}
        if self.bitext is not None:
            for side, text in (("source", self.bitext.source), ("target", self.bitext.target)):
                table[side] = _phrases(text, self.sentence, *spans[side])
        for side, (begin, length) in spans.items():
            table |= {f"{side}_begin": begin, f"{side}_end": begin + length}
        table |= {f"distance_{side}": getattr(self, f"distance_{side}") for side in SIDES}
        names = np.array(FOUR, object)
        for side in SIDES:
            for unit in UNITS:
                shift = _core.orientation_shift(_core.Unit[unit], _core.Side[side])
                table[f"{unit}_{side}"] = names[(self.orientations >> np.uint16(shift)) & np.uint16(3)]
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with a row for each sample and the columns of `readable`; needs pandas."""
        return optional_package("pandas").DataFrame(self.readable())

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with a row for each sample and the columns of `readable`; needs pyarrow."""
        return optional_package("pyarrow").table(self.readable())

    def select(self, keep: npt.NDArray[np.bool_], scratch: Scratch | None = None) -> Samples:
        """The samples where `keep` is true; the columns are stored in `scratch`."""
        scratch = scratch or Scratch()
        offsets, n_kept = np.zeros(len(self.offsets), np.int64), 0
        for rows in scratch.rows(len(self), row_bytes=16):
            kept = n_kept + np.cumsum(keep[rows])
            first, last = np.searchsorted(self.offsets, [rows.start, rows.stop], side="right")
            offsets[first:last] = kept[self.offsets[first:last] - rows.start - 1]
            n_kept = int(kept[-1])
        columns: Arguments = {name: scratch.select(column, keep) for name, column in self.columns().items()}
        return replace(self, offsets=offsets, **columns)

    def without(self, *columns: str) -> Samples:
        """The samples without columns that are no longer needed, which frees their memory."""
        empty: Arguments = {name: getattr(self, name)[:0].copy() for name in columns}
        return replace(self, **empty)

    def part(self, rows: slice) -> Samples:
        """Some of the samples, as views; `offsets` are those of all samples."""
        columns: Arguments = {name: column[rows] for name, column in self.columns().items()}
        return replace(self, **columns)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the samples as an artefact."""
        save(path, STORED, self.arrays(KIND), details={"n_samples": len(self)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Samples:
        """Open saved samples, memory-mapped."""
        return read_artefact(path, STORED, lambda artefact: cls.from_arrays(artefact.group(KIND)))


STORED = Kind(KIND, within(KIND, Samples.LAYOUT))


def optional_package(package: str) -> ModuleType:
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        raise OptionError(f"this needs the package {package}: pip install {package}") from None


def _phrases(text: Text, sentence: Array, begin: Array, length: Array) -> Array:
    """The words of phrases, as text; phrases of one sentence are consecutive."""
    phrases = np.empty(len(sentence), object)
    at, words = -1, []
    for row, (s, b, n) in enumerate(zip(sentence.tolist(), begin.tolist(), length.tolist(), strict=True)):
        if s != at:
            at, words = s, text[s]
        phrases[row] = " ".join(words[b : b + n])
    return phrases


@dataclass
class Extraction(CheckedOptions):
    """Options of phrase extraction."""

    max_length: int = option(8, "longest phrase, in words, on either side", minimum=1, maximum=255)


# Memory for extraction, per target word and word of the longest phrase; there are rarely half as many samples.
_BYTES = 40


def extract(
    bitext: Bitext,
    max_length: int = 8,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    scratch: Scratch | None = None,
) -> Samples:
    """Find every consistent phrase pair of a bitext with links, up to `max_length` words on each side.

    With `scratch` the columns are stored there.

    >>> bitext = Bitext.of(["wo zai jia chi"], ["i eat at home"], [[(0, 0), (1, 2), (2, 3), (3, 1)]])
    >>> samples = extract(bitext, max_length=2)
    >>> len(samples), samples.distance_before.tolist()
    (5, [0, -2, 3, 3, 0])
    """
    need_bitext(bitext, "extract")
    longest = Extraction(max_length).max_length
    return extract_range(bitext, 0, len(bitext), longest, Resources.of(threads, progress, scratch))


def extract_range(bitext: Bitext, begin: int, end: int, max_length: int, resources: Resources) -> Samples:
    """The samples of sentence pairs [begin, end); `offsets` are those of these pairs. Progress counts sentence pairs."""
    links, columns, n_samples = bitext.need_links(), dict[str, Column](), 0
    ranges = resources.scratch.ranges(bitext.target.offsets[begin : end + 1], _BYTES * max_length)
    for first, last in ranges or [(0, 0)]:
        pairs = slice(begin + first, begin + last + 1)
        offsets = links.offsets[pairs]
        bitext.check_lengths(begin + first, begin + last)
        piece: dict[str, Array] = _core.extract_samples(
            bitext.source.offsets[pairs],
            bitext.target.offsets[pairs],
            links.points[offsets[0] : offsets[-1]],
            offsets - offsets[0] if pairs.start else offsets,
            max_length,
            resources.threads,
            resources.items(pairs.start, of=len(bitext)).progress,
        )
        piece["sentence"] += np.uint32(pairs.start)
        piece["offsets"] = piece["offsets"][1 if first else 0 :] + n_samples
        n_samples += len(piece["sentence"])
        for name, column in piece.items():
            if name not in columns:  # a column may open a file
                columns[name] = Column(resources.scratch, column.dtype)
            columns[name].append(column)
    return Samples(**{name: column.finish() for name, column in columns.items()}, bitext=bitext)
