"""Lexicons: translations of words or phrases with probabilities in both directions, for people and other programs.

From links, p(t|s) = count(s, t) / Σ_t count(s, t), and the reverse. Unlinked words are not counted, unless the empty word
is requested: then an unlinked word is linked to `NULL`. An aligner's probabilities come from its lexical table; the empty
word there has translations but is never a translation.

Formats of files:

    tsv         a header, then source, target, p(target | source), p(source | target) and count, between tabs
    bicleaner   two files, as that program reads them:
                PREFIX.source-target.gz   target word, source word, p(target | source)
                PREFIX.target-source.gz   source word, target word, p(source | target)
    tbx         TBX-Core (ISO 30042:2019, DCA style): a concept for each source word, with its translations
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape  # not xml.sax, which imports an HTTP client
from os import fspath
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hyperbaton.align.lexical import LexicalTable, link_counts
from hyperbaton.align.normalization import Normalization
from hyperbaton.base.arrays import ranges
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import AnyPath, write_files, write_pieces

FORMATS = ("tsv", "bicleaner", "tbx")
NULL = "NULL"
COLUMNS = ("source", "target", "p_target", "p_source", "count")
_BLOCK = 10_000  # entries formatted at a time


def file_names(path: AnyPath, format: str) -> list[str]:
    """Name the files that a lexicon is written to.

    >>> file_names("words", "bicleaner")
    ['words.source-target.gz', 'words.target-source.gz']
    """
    name = fspath(path)
    return [f"{name}.source-target.gz", f"{name}.target-source.gz"] if format == "bicleaner" else [name]


@dataclass(frozen=True)
class Selection(CheckedOptions):
    """Selection of entries of a lexicon."""

    min_probability: float = option(0.0, "minimum probability of an entry, in its better direction", minimum=0, maximum=1)
    min_count: int = option(1, "minimum number of links, or of phrase pairs, for an entry", minimum=1)
    relative: float = option(
        0.0, "minimum fraction of the best translation's probability, in either direction", minimum=0, maximum=1
    )
    top: int = option(0, "maximum number of translations per source word; 0 keeps all", minimum=0)


class Entry(NamedTuple):
    """One translation: p(target | source), p(source | target), and its count, if known."""

    source: str
    target: str
    p_target: float
    p_source: float
    occurrences: int | None


class Names(Protocol):
    """Words or phrases by number."""

    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> str: ...


@dataclass(frozen=True)
class Lexicon:
    """Entries as columns, sorted by source, the most probable translation first.

    `sources` and `targets` are numbers into `source_names` and `target_names`; `probabilities` has the columns p(target |
    source) and p(source | target).

    >>> bitext = Bitext.of(["das haus", "das buch"], ["the house", "the book"], [[(0, 0), (1, 1)], [(0, 0), (1, 1)]])
    >>> list(Lexicon.from_links(bitext))[0]
    Entry(source='buch', target='book', p_target=1.0, p_source=1.0, occurrences=1)
    """

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float64]  # (n, 2)
    counts: npt.NDArray[np.int64] | None
    source_names: Names
    target_names: Names

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, entry: int) -> Entry:
        count = None if self.counts is None else int(self.counts[entry])
        to_target, to_source = self.probabilities[entry].tolist()
        return Entry(
            self.source_names[self.sources[entry]], self.target_names[self.targets[entry]], to_target, to_source, count
        )

    def __iter__(self) -> Iterator[Entry]:
        return (self[entry] for entry in range(len(self)))

    @classmethod
    def from_links(
        cls, bitext: Bitext, *, null: bool = False, lowercase: bool = False, threads: int | None = None
    ) -> Lexicon:
        """Count the links of a bitext; with `null`, unlinked words count as linked to NULL."""
        if lowercase:
            lower = Normalization(lowercase=True)
            bitext = replace(bitext, source=lower.apply(bitext.source).text, target=lower.apply(bitext.target).text)
        offsets, targets, counts = link_counts(bitext, Resources.of(threads))
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        n_source, n_target = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
        if not null:
            both = (sources < n_source) & (targets < n_target)
            sources, targets, counts = sources[both], targets[both], counts[both]
        totals = np.bincount(sources, counts, n_source + 1)[sources], np.bincount(targets, counts, n_target + 1)[targets]
        names = [[*side.vocabulary.words(), NULL] for side in (bitext.source, bitext.target)]
        return cls(
            sources,
            targets.astype(np.int64),
            np.stack([counts / totals[0], counts / totals[1]], axis=1),
            counts.astype(np.int64),
            names[0],
            names[1],
        ).sorted()

    @classmethod
    def from_table(cls, table: LexicalTable, *, null: bool = False) -> Lexicon:
        """An aligner's probabilities, `Aligner.lexical_table()`; there are no counts."""
        sources = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
        targets = table.targets.astype(np.int64)
        keep = table.probabilities.max(axis=1) > 0
        if not null:
            keep &= (sources < len(table.source)) & (targets < len(table.target))
        names = [[*side.words(), NULL] for side in (table.source, table.target)]
        return cls(sources[keep], targets[keep], table.probabilities[keep], None, names[0], names[1]).sorted()

    def sorted(self) -> Lexicon:
        """Sort the entries by source name in byte order, then by p(target | source), then by target name."""
        ranks = []
        for names, numbers in ((self.source_names, self.sources), (self.target_names, self.targets)):
            used, places = np.unique(numbers, return_inverse=True)
            spelled = [names[number].encode() for number in used.tolist()]
            order = sorted(range(len(used)), key=spelled.__getitem__)
            ranks.append(np.argsort(order)[places])
        return self._take(np.lexsort((ranks[1], -self.probabilities[:, 0], ranks[0])))

    def select(self, wanted: Selection) -> Lexicon:
        """The selected entries; their probabilities do not change."""
        best = [np.zeros(n) for n in (len(self.source_names), len(self.target_names))]
        np.maximum.at(best[0], self.sources, self.probabilities[:, 0])
        np.maximum.at(best[1], self.targets, self.probabilities[:, 1])
        keep = self.probabilities.max(axis=1) >= wanted.min_probability
        of_best = np.stack([best[0][self.sources], best[1][self.targets]], axis=1)
        keep &= (self.probabilities >= wanted.relative * of_best).any(axis=1)
        if wanted.min_count > 1:
            if self.counts is None:
                raise OptionError("min-count: an aligner stores no counts; give SRC TGT LINKS")
            keep &= self.counts >= wanted.min_count
        kept = self._take(np.flatnonzero(keep))
        if not wanted.top:
            return kept
        starts = np.flatnonzero(np.diff(kept.sources, prepend=-1))
        return kept._take(np.flatnonzero(ranges(0, np.diff(starts, append=len(kept))) < wanted.top))

    def _take(self, entries: npt.NDArray[np.int64]) -> Lexicon:
        return replace(
            self,
            sources=self.sources[entries],
            targets=self.targets[entries],
            probabilities=self.probabilities[entries],
            counts=None if self.counts is None else self.counts[entries],
        )

    def write(self, path: AnyPath, format: str = "tsv", *, languages: tuple[str, str] = ("und", "und")) -> None:
        """Write the lexicon in one of FORMATS; for `bicleaner` the path is a prefix.

        Arguments:
            languages: codes of the source and the target language (BCP 47), for `tbx`.
        """
        if format == "tsv":
            write_pieces(path, self._tsv())
        elif format == "tbx":
            write_pieces(path, self._tbx(languages))
        elif format == "bicleaner":
            if str(path) == "-":
                raise OptionError("the format bicleaner is two files: give -o PREFIX")
            to_target, to_source = file_names(path, format)
            write_files({to_target: self._bicleaner(0), to_source: self._bicleaner(1)})
        else:
            raise OptionError(f"unknown format of lexicons {format!r}; known: {', '.join(FORMATS)}")

    def _tsv(self) -> Iterator[bytes]:
        yield ("\t".join(COLUMNS) + "\n").encode()
        for block in self._blocks():
            rows = (f"{e.source}\t{e.target}\t{e.p_target:.6g}\t{e.p_source:.6g}\t" for e in block)
            counts = ("" if e.occurrences is None else e.occurrences for e in block)
            yield "".join(f"{row}{count}\n" for row, count in zip(rows, counts, strict=True)).encode()

    def _bicleaner(self, direction: int) -> Iterator[bytes]:
        for block in self._blocks():
            if any(" " in e.source or " " in e.target for e in block):
                raise OptionError("the format bicleaner is for single words, not for phrases")
            rows = ((e.target, e.source, e.p_target) if direction == 0 else (e.source, e.target, e.p_source) for e in block)
            yield "".join(f"{given} {word} {p:.7f}\n" for given, word, p in rows if p >= 5e-8).encode()

    def _tbx(self, languages: tuple[str, str]) -> Iterator[bytes]:
        src, tgt = (f'"{escape(language)}"' for language in languages)
        spelled = partial(escape, quote=False)
        yield (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<tbx xmlns="urn:iso:std:iso:30042:ed-2" type="TBX-Core" style="dca" xml:lang={src}>\n'
            "<tbxHeader><fileDesc><sourceDesc><p>Translations counted in word links by hyperbaton</p></sourceDesc>"
            "</fileDesc></tbxHeader>\n<text><body>\n"
        ).encode()
        number, last = 0, None
        for block in self._blocks():
            pieces = []
            for e in block:
                if e.source != last:
                    pieces.append("</langSec></conceptEntry>\n" if number else "")
                    number, last = number + 1, e.source
                    pieces.append(
                        f'<conceptEntry id="c{number}"><langSec xml:lang={src}><termSec><term>{spelled(e.source)}</term>'
                        f"</termSec></langSec><langSec xml:lang={tgt}>"
                    )
                counted = "" if e.occurrences is None else f", count {e.occurrences}"
                note = f"p(target|source) {e.p_target:.6g}, p(source|target) {e.p_source:.6g}{counted}"
                pieces.append(f"<termSec><term>{spelled(e.target)}</term><note>{note}</note></termSec>")
            yield "".join(pieces).encode()
        yield (("</langSec></conceptEntry>\n" if number else "") + "</body></text>\n</tbx>\n").encode()

    def _blocks(self) -> Iterator[list[Entry]]:
        for begin in range(0, len(self), _BLOCK):
            yield [self[entry] for entry in range(begin, min(begin + _BLOCK, len(self)))]

    def summary(self) -> dict[str, object]:
        """The numbers of entries and words."""
        return {
            "entries": len(self),
            "sources": len(np.unique(self.sources)),
            "targets": len(np.unique(self.targets)),
        }
