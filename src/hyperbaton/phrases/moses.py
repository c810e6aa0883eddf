"""Reading and writing Moses' text files: phrase tables and reordering tables.

    source ||| target ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| 0-0 1-1 ||| c(t) c(s) c(s,t) ||| |||
    source ||| target ||| p(M) p(S) p(D) …

Rows are in the byte order of `LC_ALL=C sort`. Tables conditioned on the source alone have no target field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, gather
from hyperbaton.base.errors import InputError
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.files import AnyPath, feed, shown, write_pieces
from hyperbaton.phrases.inventory import Phrases, number_rows
from hyperbaton.phrases.pair_values import CountRows, LinkSets, PlainCounts, PlainScores, ScoreRows
from hyperbaton.phrases.reordering import ReorderingType
from hyperbaton.phrases.table import PhraseTable

LABEL = "[X]"  # at the end of the sides of rules
Scores = npt.NDArray[np.floating[Any]]
_NO_COUNTS = np.zeros((0, 3), np.float32)
_ROWS = 1 << 16  # formatted at a time: a few MiB of text, enough to compress without joining


def phrase_table_pieces(table: PhraseTable, progress: Progress | None = None, *, exact: bool = False) -> Iterator[bytes]:
    """Rows of a phrase table, with scores of six digits as in Moses, or `exact`, so that they are read back unchanged."""
    return _pair_rows(table, table.scores, exact, table.counts, progress)


def reordering_table_pieces(
    table: PhraseTable,
    probabilities: Scores,
    conditioning: str = "fe",
    progress: Progress | None = None,
    *,
    exact: bool = False,
) -> Iterator[bytes]:
    """Rows of a reordering table over the phrase pairs (`fe`) or source phrases (`f`) of a phrase table."""
    if conditioning == "fe":
        yield from _pair_rows(table, probabilities, exact, None, progress)
        return
    source, n = table.source, len(table.source)
    spelling = source.vocabulary.spelling
    rows = _core.SourceRows(phrases=source.core, source=spelling, n_scores=probabilities.shape[1], exact=exact)
    for first in range(0, n, _ROWS):
        last = min(first + _ROWS, n)
        yield rows.format(probabilities[first:last].astype(np.float64), first, last)
        if progress is not None:
            progress(last, n)


def _pair_rows(
    table: PhraseTable,
    scores: Scores | ScoreRows,
    exact: bool,
    counts: CountRows | None,
    progress: Progress | None,
) -> Iterator[bytes]:
    """Rows of phrase pairs; with counts, also with inner links."""
    rows = _core.PairRows(
        table=table.arrays_view,
        source=table.source.vocabulary.spelling,
        target=table.target.vocabulary.spelling,
        n_scores=scores.shape[1],
        exact=exact,
        links=counts is not None,
    )
    first, n = 0, len(table.source)
    while first < n:
        last = max(first + 1, int(np.searchsorted(table.offsets, table.offsets[first] + _ROWS, side="right")) - 1)
        pairs = slice(table.offsets[first], table.offsets[last])
        yield rows.format(scores[pairs].astype(np.float64), _NO_COUNTS if counts is None else counts[pairs], first, last)
        if progress is not None:
            progress(last, n)
        first = last


def write_moses(
    folder: str | PathLike[str],
    table: PhraseTable,
    reordering: Iterable[tuple[ReorderingType, Scores]] = (),
    *,
    progress: Progress | None = None,
) -> list[Path]:
    """Write `phrase-table.gz` and `reordering-table.TYPE.gz` into a folder; returns the files."""
    written = [Path(folder) / "phrase-table.gz"]
    write_pieces(written[0], phrase_table_pieces(table, progress))
    for kind, probabilities in reordering:
        written.append(Path(folder) / f"reordering-table.{kind.name}.gz")
        write_pieces(written[-1], reordering_table_pieces(table, probabilities, kind.conditioning, progress))
    return written


def read_phrase_table(path: AnyPath) -> PhraseTable:
    """Read a phrase table of Moses, rows in any order, any number of scores."""
    rows = read_rows(path)
    if len(rows) and rows.source.word(int(rows.columns["source_words"][rows.columns["source_offsets"][1] - 1])) == LABEL:
        raise InputError("expected a phrase table, found a rule table: its sides end with the label [X]", shown(path), 1)
    return table_of_rows(rows, path)


@dataclass
class FileRows:
    """Rows of a phrase table file: words of both sides, links, scores and counts, by name."""

    columns: dict[str, Array]
    source: Vocabulary
    target: Vocabulary

    def __len__(self) -> int:
        return len(self.columns["source_offsets"]) - 1


def read_rows(path: AnyPath) -> FileRows:
    """Read the rows of a phrase table of Moses."""
    reader = _core.MosesTableReader(True)
    feed(reader, path)
    vocabularies = (Vocabulary(*lookup.arrays()) for lookup in (reader.source_vocabulary(), reader.target_vocabulary()))
    return FileRows(reader.take(), *vocabularies)


def table_of_rows(rows: FileRows, path: AnyPath, what: str = "phrase pair") -> PhraseTable:
    """The phrase table of the rows of a file; no pair may occur twice, and `what` is its name in the message."""
    columns = rows.columns
    (source, source_ids), (target, target_ids) = (
        number_rows(columns[f"{side}_words"], columns[f"{side}_offsets"], vocabulary)
        for side, vocabulary in (("source", rows.source), ("target", rows.target))
    )
    offsets, targets, row_offsets, order = _core.pair_phrases(source_ids, target_ids, len(source), default_threads(), None)
    if len(targets) < len(rows):
        pair = int(np.argmax(np.diff(row_offsets) > 1))
        again = int(order[row_offsets[pair] + 1])
        raise InputError(f"the {what} is already in an earlier line", path, again + 1)
    where, link_offsets = gather(columns["link_offsets"], order.astype(np.int64))
    return PhraseTable(
        source,
        target,
        offsets,
        targets,
        PlainScores(columns["scores"][order]),
        PlainCounts(columns["counts"][order]),
        LinkSets.of(link_offsets, columns["links"][where]),
    )


def read_reordering_table(path: AnyPath, kind: ReorderingType, table: PhraseTable) -> npt.NDArray[np.float32]:
    """Read a reordering table for the pairs of a phrase table.

    Returns probabilities in the order of the table's pairs (or source phrases, if the conditioning is on `f`), NaN
    if the file has no row: Moses adds no cost for those.
    """
    by_source = kind.conditioning == "f"
    reader = _core.MosesTableReader(not by_source)
    feed(reader, path)
    columns = reader.take()
    expected = len(kind.sides) * len(kind.set)
    if columns["scores"].shape[0] and columns["scores"].shape[1] != expected:
        n_scores = columns["scores"].shape[1]
        raise InputError(f"a {kind.name} table has {expected} scores in a row, found {n_scores}", path, 1)
    rows_source = _match(columns, "source", reader.source_vocabulary(), table.source)
    n = len(table.source) if by_source else len(table)
    result = np.full((n, expected), np.nan, np.float32)
    if by_source:
        _fill(result, rows_source, rows_source >= 0, columns["scores"], path)
        return result
    rows_target = _match(columns, "target", reader.target_vocabulary(), table.target)
    keys = table.sources.astype(np.int64) * len(table.target) + table.targets
    wanted = rows_source * len(table.target) + rows_target
    at = np.minimum(np.searchsorted(keys, wanted), max(n - 1, 0))
    in_table = (rows_source >= 0) & (rows_target >= 0) & (keys[at] == wanted if n else False)
    _fill(result, at, in_table, columns["scores"], path)
    return result


def _fill(
    result: npt.NDArray[np.float32],
    at: npt.NDArray[np.int64],
    in_table: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float32],
    path: AnyPath,
) -> None:
    """Put the rows of a file that are `in_table` at their positions; each position has at most one row."""
    rows = np.flatnonzero(in_table)
    _, first = np.unique(at[rows], return_index=True)
    if len(first) < len(rows):
        again = int(np.delete(rows, first)[0])
        raise InputError("the phrase is already in an earlier line", path, again + 1)
    result[at[rows]] = scores[rows]


def _match(columns: dict[str, Array], side: str, lookup: _core.Vocabulary, phrases: Phrases) -> npt.NDArray[np.int64]:
    """The number of each row's phrase among known phrases, -1 if it is unknown."""
    rows = Text(columns[f"{side}_words"], columns[f"{side}_offsets"], Vocabulary(*lookup.arrays()))
    rows = rows.over(phrases.vocabulary)
    # Number our phrases and the rows' together; equal phrases get equal numbers.
    words, offsets = phrases.gather()
    words, offsets = np.concatenate([words, rows.tokens]), np.concatenate([offsets, offsets[-1] + rows.offsets[1:]])
    together, ids = number_rows(words, offsets, rows.vocabulary)
    number = np.full(len(together), -1, np.int64)
    number[ids[: len(phrases)]] = np.arange(len(phrases))
    return number[ids[len(phrases) :]]
