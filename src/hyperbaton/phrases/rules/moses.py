"""Rule tables and the glue grammar in Moses' text formats.

A row of a rule table has the label of each side at its end, spells every gap `[X][X]`, and links gaps like words:

    [X][X] of [X][X] [X] ||| [X][X] de [X][X] [X] ||| scores ||| 0-2 1-1 2-0 ||| counts ||| |||

Rows are in the byte order of `LC_ALL=C sort`. A word in square brackets would be read as a gap, so its brackets are
written as &#91; and &#93;, as Moses' tokenizer does.

The glue grammar joins the parts of a sentence, S → X and S → S X. It is the same for all rule tables, and the
decoder has it built in; the file is checked on import, and its weight is returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import gather, offsets_of
from hyperbaton.base.errors import InputError
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.corpus import Vocabulary
from hyperbaton.corpus.files import AnyPath, read_lines, shown, write_pieces
from hyperbaton.phrases.moses import LABEL, FileRows, read_rows, table_of_rows
from hyperbaton.phrases.rules.table import SOURCE_GAPS, TARGET_GAPS, RuleTable, extended

GAP = "[X][X]"
GLUE = (
    "<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||",
    "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||",
    "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||",
)
RULE_FILE, GLUE_FILE = "rule-table.gz", "glue-grammar"
_ROWS = 1 << 16  # written at a time
_N_SCORES = 4
MAX_GAPS = len(TARGET_GAPS)


def write_rules(folder: str | PathLike[str], rules: RuleTable, *, progress: Progress | None = None) -> list[Path]:
    """Write `rule-table.gz` and `glue-grammar` into a folder; returns the files."""
    written = [Path(folder) / RULE_FILE, Path(folder) / GLUE_FILE]
    write_pieces(written[0], rule_table_pieces(rules, progress))
    write_pieces(written[1], glue_pieces())
    return written


def glue_pieces() -> Iterator[bytes]:
    """The lines of the glue grammar."""
    return (f"{line}\n".encode() for line in GLUE)


def rule_table_pieces(rules: RuleTable, progress: Progress | None = None, *, exact: bool = False) -> Iterator[bytes]:
    """The rows of a rule table, with scores of six digits as in Moses, or `exact`, so that they are read back unchanged."""
    table, threads = rules.table, default_threads()
    table.check()
    source, target = (
        _escaped(phrases.vocabulary, len(gaps))
        for phrases, gaps in ((table.source, SOURCE_GAPS), (table.target, TARGET_GAPS))
    )
    symbols = _core.RuleSymbols(
        extended(source, SOURCE_GAPS).spelling,
        extended(target, TARGET_GAPS).spelling,
    )
    order, target_order = (
        _core.order_rules(side.core, symbols=symbols, target=is_target, n_threads=threads)
        for side, is_target in ((table.source, False), (table.target, True))
    )
    target_ranks = np.empty(len(table.target), np.uint32)
    target_ranks[target_order] = np.arange(len(table.target), dtype=np.uint32)
    rows = _core.RuleRows(
        table=table.arrays_view,
        source=extended(source, (GAP,)).spelling,
        target=extended(extended(target, (GAP,)), (GAP,)).spelling,
        target_ranks=target_ranks,
        n_scores=table.scores.shape[1],
        exact=exact,
    )
    ends = np.cumsum(np.diff(table.offsets)[order])
    begin = 0
    while begin < len(order):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _ROWS, side="right")))
        pairs, _ = gather(table.offsets, order[begin:end])
        yield rows.format(order[begin:end], table.scores[pairs].astype(np.float64), table.counts[pairs])
        begin = end
        if progress is not None:
            progress(begin, len(order))


def _escaped(vocabulary: Vocabulary, n_gaps: int) -> Vocabulary:
    """The words without gaps; square brackets around a word are escaped."""
    n = len(vocabulary) - n_gaps
    words = Vocabulary(vocabulary.bytes[: vocabulary.offsets[n]], vocabulary.offsets[: n + 1])
    begins, ends = words.offsets[:-1], words.offsets[1:]
    bracketed = (words.bytes[begins] == ord("[")) & (words.bytes[ends - 1] == ord("]"))
    if not bracketed.any():
        return words
    spelled = [
        word.replace("[", "&#91;").replace("]", "&#93;") if escape else word
        for word, escape in zip(words.words(), bracketed, strict=True)
    ]
    encoded = [word.encode() for word in spelled]
    return Vocabulary(np.frombuffer(b"".join(encoded), np.uint8), offsets_of([len(word) for word in encoded]))


def read_rules(path: AnyPath) -> RuleTable:
    """Read a rule table of Moses, rows in any order."""
    rows = read_rows(path)
    columns = rows.columns
    if len(rows) and columns["scores"].shape[1] != _N_SCORES:
        found = columns["scores"].shape[1]
        raise InputError(f"a rule table has {_N_SCORES} scores in a row, found {found}", shown(path), 1)
    source, target = _Side(rows, "source", path), _Side(rows, "target", path)

    def refuse(bad: npt.NDArray[np.bool_], lines: npt.NDArray[np.int64], what: str) -> None:
        if bad.any():
            raise InputError(what, shown(path), int(lines[np.argmax(bad)]) + 1)

    all_rows = np.arange(len(rows))
    refuse(source.n_gaps != target.n_gaps, all_rows, "the sides of a rule must have the same number of gaps")
    points, owners = columns["links"].astype(np.int64), np.repeat(all_rows, np.diff(columns["link_offsets"]))
    inside = (points[:, 0] < source.lengths[owners]) & (points[:, 1] < target.lengths[owners])
    refuse(~inside, owners, "a link goes to the label of a side")
    source_gap, target_gap = source.gap_at(owners, points[:, 0]), target.gap_at(owners, points[:, 1])
    refuse((source_gap >= 0) != (target_gap >= 0), owners, "a link joins a gap and a word")
    of_gaps = source_gap >= 0
    linked = np.zeros((len(rows), MAX_GAPS, MAX_GAPS), np.int64)
    np.add.at(linked, (owners[of_gaps], target_gap[of_gaps], source_gap[of_gaps]), 1)
    wanted = np.arange(MAX_GAPS) < source.n_gaps[:, None]
    unpaired = (linked.sum(axis=1) != wanted).any(axis=1) | (linked.sum(axis=2) != wanted).any(axis=1)
    refuse(unpaired, all_rows, "each gap must be linked to one gap of the other side")

    # Target gaps are named by the source gap they are linked to. Links of words are kept, by target, then source.
    partners = linked.argmax(axis=2)[target.owners, np.maximum(target.gap, 0)]
    kept = points[~of_gaps], owners[~of_gaps]
    order = np.lexsort((kept[0][:, 0], kept[0][:, 1], kept[1]))
    n_links = np.bincount(kept[1], minlength=len(rows))
    columns = {
        **columns,
        **source.columns(np.zeros(len(source.gap), np.int64)),
        **target.columns(partners),
        "links": kept[0][order].astype(np.uint8),
        "link_offsets": offsets_of(n_links),
    }
    vocabularies = extended(source.vocabulary, SOURCE_GAPS), extended(target.vocabulary, TARGET_GAPS)
    return RuleTable(table_of_rows(FileRows(columns, *vocabularies), path, "rule"))


class _Side:
    """One side of the rows of a file, without labels; `gap` has the number of each symbol among the gaps, or -1."""

    def __init__(self, rows: FileRows, side: str, path: AnyPath) -> None:
        self._side, vocabulary = side, rows.source if side == "source" else rows.target
        words, offsets = rows.columns[f"{side}_words"], rows.columns[f"{side}_offsets"]
        labels, gap = vocabulary.number(LABEL), vocabulary.number(GAP)
        spelled = vocabulary.words()
        bracketed = np.array([word[0] == "[" and word[-1] == "]" for word in spelled], np.bool_)

        def refuse(bad: npt.NDArray[np.bool_], places: npt.NDArray[np.int64], what: str) -> None:
            for place in places[bad][:1]:
                line = int(np.searchsorted(offsets, place, side="right"))
                raise InputError(what.format(spelled[words[place]]), shown(path), line)

        last = offsets[1:] - 1
        refuse(words[last] != labels, last, f"expected the label [X] at the end of the {side} side, found {{!r}}")
        refuse(np.diff(offsets) < 2, last, f"the {side} side is empty")
        is_label = np.zeros(len(words), np.bool_)
        is_label[last] = True
        body = np.flatnonzero(~is_label)
        foreign = bracketed[words[body]] & (words[body] != gap)
        refuse(foreign, body, "unknown label {!r}: gaps are [X][X]; brackets of words are written &#91; and &#93;")
        self.words = words[body].astype(np.int64)
        self.lengths = np.diff(offsets) - 1
        self.offsets = offsets - np.arange(len(offsets))
        self.owners = np.repeat(np.arange(len(rows)), self.lengths)
        is_gap = self.words == gap
        n_before = offsets_of(is_gap)
        self.gap = np.where(is_gap, n_before[:-1] - n_before[self.offsets[self.owners]], -1)
        self.n_gaps = np.bincount(self.owners[is_gap], minlength=len(rows))
        # Words without the labels and Moses' spelling of gaps.
        used = np.unique(self.words[~is_gap])
        self.vocabulary = vocabulary.select(used)
        self._numbers = np.zeros(len(vocabulary), np.int64)
        self._numbers[used] = np.arange(len(used))
        refuse(self.gap >= MAX_GAPS, body, "a rule has at most two gaps, found a third {!r}")

    def gap_at(self, rows: npt.NDArray[np.int64], positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The gaps at positions of rows, -1 for words."""
        return self.gap[self.offsets[rows] + positions]

    def columns(self, names: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.generic]]:
        """Words and offsets; gaps are numbered after the words, and by `names`."""
        words = np.where(self.gap >= 0, len(self.vocabulary) + names, self._numbers[self.words])
        return {f"{self._side}_words": words.astype(np.uint32), f"{self._side}_offsets": self.offsets}


def read_glue(path: AnyPath) -> float:
    """Check that a glue grammar is the standard one; returns the weight of its rule S → S X as a feature, ln 2.718.

    Counts and blanks may differ, since versions of Moses write them differently.
    """
    lines = [_fields(line) for line in read_lines(path)]
    expected = [_fields(line) for line in GLUE]
    for number, fields in enumerate(lines, 1):
        if fields not in expected:
            raise InputError("not a rule of the standard glue grammar, S → X and S → S X", shown(path), number)
    if len(lines) != len(expected) or any(fields not in lines for fields in expected):
        raise InputError(
            f"expected the {len(expected)} rules of the standard glue grammar, found {len(lines)}", shown(path), len(lines)
        )
    return float(numeric.log(float(expected[-1][-1])))


def _fields(line: str) -> list[str]:
    """Sides and score of a glue rule."""
    return [" ".join(field.split()) for field in line.split("|||")[:3]]
