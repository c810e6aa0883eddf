"""Cleaning of training text: drop sentence pairs that are empty, too long or too different in length (NI11, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from os import fspath
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import InputError, LineError, OptionError
from hyperbaton.base.options import LARGEST, CheckedOptions, option
from hyperbaton.base.outputs import Destination, check_places
from hyperbaton.corpus.bitext import Bitext, check_same_length
from hyperbaton.corpus.files import COMPRESSIONS, AnyPath, read_pieces, shown, write_files
from hyperbaton.corpus.placeholders import Protecting, generalize
from hyperbaton.corpus.raw import read_raw
from hyperbaton.corpus.text import Faults, Text
from hyperbaton.corpus.tokenizers import Tokenizer

N_EXAMPLES = 5
SHARE_KEPT = 0.99  # the share of pairs without another fault that a ratio should keep


@dataclass(frozen=True)
class Cleaning(CheckedOptions):
    """Conditions for keeping a sentence pair."""

    min_length: int = option(1, "shortest sentence kept, in tokens", minimum=1)
    max_length: int = option(100, "longest sentence kept, in tokens", minimum=1)
    ratio: float = option(2.0, "maximum ratio of the lengths of the two sides, in tokens", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_length < self.min_length:
            raise OptionError(f"max-length {self.max_length} is below min-length {self.min_length}")


NOT_EMPTY = Cleaning(1, LARGEST, 1e9)  # the conditions for text that is only translated


@dataclass(frozen=True)
class DroppedPairs:
    """The number of pairs dropped for one reason, and the first few of their lines, counted from 1."""

    n: int
    lines: list[int]


@dataclass(frozen=True)
class CleaningReport:
    """Numbers of pairs read, kept and dropped, by the first reason that applies. `warnings` are for people."""

    n_read: int
    n_kept: int
    dropped: dict[str, DroppedPairs] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    def rows(self) -> list[dict[str, object]]:
        rows = [
            {"pairs": self.n_read, "what": "read", "lines": ""},
            {"pairs": self.n_kept, "what": "kept", "lines": ""},
        ]
        for reason, drop in self.dropped.items():
            more = ", …" if drop.n > len(drop.lines) else ""
            rows.append({"pairs": drop.n, "what": f"dropped: {reason}", "lines": ", ".join(map(str, drop.lines)) + more})
        return rows


def clean(
    bitext: Bitext,
    options: Cleaning | None = None,
    *,
    source_faults: Faults | None = None,
    target_faults: Faults | None = None,
) -> tuple[npt.NDArray[np.int64], CleaningReport]:
    """Choose the sentence pairs to keep: their numbers, in order, and a report on the others.

    The faults are the lines that a repairing reader emptied, so that the report can say why.

    >>> bitext = Bitext.of(["a b", "a", ""], ["A B", "A B C", "A"])
    >>> kept, report = clean(bitext)
    >>> kept.tolist(), list(report.dropped)
    ([0], ['source empty', 'one side more than 2 times as long'])
    """
    options = options or Cleaning()
    n_src, n_tgt = bitext.source.lengths, bitext.target.lengths
    reasons: list[tuple[str, npt.NDArray[np.bool_]]] = []
    for side, faults in (("source", source_faults), ("target", target_faults)):
        if faults is None:
            continue
        for kind in np.unique(faults.kinds):
            broken = np.zeros(len(bitext), bool)
            broken[faults.lines[faults.kinds == kind]] = True
            reasons.append((f"{side}: {_core.describe_fault(int(kind))}", broken))
    sides = (("source", n_src), ("target", n_tgt))
    reasons += [(f"{side} empty", length == 0) for side, length in sides]
    reasons += [(f"{side} shorter than {options.min_length}", length < options.min_length) for side, length in sides]
    reasons += [(f"{side} longer than {options.max_length}", length > options.max_length) for side, length in sides]
    longer, shorter = np.maximum(n_src, n_tgt), np.minimum(n_src, n_tgt)
    # The ratio comes last, since it is judged on the pairs without another fault.
    others = ~np.any([applies for _, applies in reasons], axis=0)
    warning = _ratio_warning(longer[others] / shorter[others], options.ratio)
    reasons.append((f"one side more than {options.ratio:g} times as long", longer > options.ratio * shorter))

    kept = np.ones(len(bitext), bool)
    dropped = {}
    for reason, applies in reasons:
        lines = np.flatnonzero(kept & applies)
        if len(lines):
            dropped[reason] = DroppedPairs(len(lines), (lines[:N_EXAMPLES] + 1).tolist())
            kept[lines] = False
    numbers = np.flatnonzero(kept)
    return numbers, CleaningReport(len(bitext), len(numbers), dropped, [] if warning is None else [warning])


def _ratio_warning(ratios: npt.NDArray[np.float64], limit: float) -> str | None:
    """Warn if a limit drops many pairs without another fault, since languages differ in the number of words they need.

    >>> _ratio_warning(np.array([1.0, 1.5, 2.25, 3.0]), 2.0)
    'ratio 2 drops 50.0% of the pairs that are otherwise fine (2 of 4); ratio 3 would keep 99% of them'
    """
    n_dropped = int((ratios > limit).sum())
    if n_dropped <= (1 - SHARE_KEPT) * len(ratios):
        return None
    n_kept = int(np.ceil(round(SHARE_KEPT * len(ratios), 6)))
    enough = np.ceil(np.round(10 * np.sort(ratios)[n_kept - 1], 6)) / 10
    share = f"{100 * n_dropped / len(ratios):.1f}% of the pairs that are otherwise fine ({n_dropped:,} of {len(ratios):,})"
    return f"ratio {limit:g} drops {share}; ratio {enough:g} would keep {SHARE_KEPT:.0%} of them"


def clean_files(
    source: AnyPath,
    target: AnyPath,
    prefix: AnyPath,
    options: Cleaning | None = None,
    *,
    also: Sequence[AnyPath] = (),
    repair: bool = False,
    source_tokenizer: Tokenizer | None = None,
    target_tokenizer: Tokenizer | None = None,
    placeholders: bool = False,
    compression: str = "",
    n_processes: int = 1,
) -> CleaningReport:
    """Write the pairs worth keeping to new files, all of them or none.

    Arguments:
        prefix: of the names of the new files, followed by the old extensions, see `output_names`.
        also: files with one line for each sentence pair (links, tags, trees), reduced to the same lines.
        repair: empty broken lines, which drops their pairs; otherwise the first one is an error.
        source_tokenizer, target_tokenizer: for raw text; None for tokenized text.
        placeholders: replace numbers and addresses that occur on both sides of a pair.
        compression: suffix of the new files (.gz, .xz, .zst), or none.
    """
    names = output_names(source, target, also, prefix, compression)
    check_places([Destination("--output", name) for name in names], [source, target, *also])
    if placeholders:
        source_tokenizer = None if source_tokenizer is None else Protecting(source_tokenizer)
        target_tokenizer = None if target_tokenizer is None else Protecting(target_tokenizer)
    src, source_faults = _read(source, source_tokenizer, repair, n_processes)
    tgt, target_faults = _read(target, target_tokenizer, repair, n_processes)
    check_same_length(src, tgt)
    kept, report = clean(Bitext(src, tgt), options, source_faults=source_faults, target_faults=target_faults)
    if placeholders:
        src, tgt = generalize(src, tgt)
    write_pairs(names, Bitext(src, tgt), also, kept)
    return report


def write_pairs(names: Sequence[str], bitext: Bitext, also: Sequence[AnyPath], kept: npt.NDArray[np.int64]) -> None:
    """Write some sentence pairs, and these lines of other files, to files of the given names: all of them, or none."""
    keep = np.zeros(len(bitext), np.uint8)
    keep[kept] = 1
    contents = [bitext.source.pieces(kept), bitext.target.pieces(kept), *(filtered_lines(path, keep) for path in also)]
    write_files(dict(zip(names, contents, strict=True)))


def output_names(
    source: AnyPath, target: AnyPath, also: Sequence[AnyPath], prefix: AnyPath, compression: str = ""
) -> list[str]:
    """Name the files that `clean_files` writes; compression suffixes of the old names are ignored.

    >>> output_names("train.zh.xz", "train.en.xz", ["train.zh.pos.xz", "my.links"], "clean")
    ['clean.zh', 'clean.en', 'clean.zh.pos', 'clean.links']
    >>> output_names("a.txt", "b.txt", [], "out/clean", ".gz")
    ['out/clean.source.gz', 'out/clean.target.gz']
    """
    paths = (Path("" if fspath(path) == "-" else Path(path).name) for path in (source, target, *also))
    src, tgt, *rest = (path.with_suffix("") if path.suffix in COMPRESSIONS else path for path in paths)
    endings = [src.suffix or ".source", tgt.suffix or ".target"]
    if endings[0] == endings[1]:
        endings = [".source", ".target"]
    for other in rest:
        stem = next((stem for stem in (src.stem, tgt.stem) if other.name.startswith(f"{stem}.")), other.stem)
        endings.append(other.name[len(stem) :])
    names = [f"{fspath(prefix)}{ending}{compression}" for ending in endings]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise OptionError(f"two of the files would be written as {name}; rename one of them")
    return names


def _read(path: AnyPath, tokenizer: Tokenizer | None, repair: bool, n_processes: int) -> tuple[Text, Faults]:
    if tokenizer is not None:
        return read_raw(path, tokenizer, repair, n_processes)
    return Text.read_with_faults(path, repair)


def filtered_lines(path: AnyPath, keep: npt.NDArray[np.uint8]) -> Iterator[bytes]:
    """The lines of a file for which `keep` is 1, in pieces; the file must have a line for each."""
    lines = _core.LineFilter(keep)
    try:
        for piece in read_pieces(path):
            yield lines.feed(piece)
        yield lines.finish()
    except LineError as error:
        message, line = error.args
        raise InputError(message, shown(path), line) from error
