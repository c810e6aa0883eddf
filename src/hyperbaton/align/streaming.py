"""Bitexts of any length, a group of sentence pairs at a time.

A group is at most a few thousand pairs, so memory does not grow with the input. A saved aligner gives a pair the same
links in any group.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.files import AnyPath, read_sentence_groups, read_sentences, shown

GROUP = 4096
SEPARATOR = "|||"


def read_groups(source: AnyPath, target: AnyPath, most: int = GROUP) -> Iterator[Bitext]:
    """Read two texts that are line by line translations; lines may be empty."""
    pairs, first = read_pairs(source, target), 0
    while group := list(islice(pairs, most)):
        yield Bitext(_text([src for src, _ in group], source, first), _text([tgt for _, tgt in group], target, first))
        first += len(group)


def read_pairs(source: AnyPath, target: AnyPath) -> Iterator[tuple[str, str]]:
    """Read the lines of two texts of the same length."""
    pairs = zip_longest(read_sentences(source), read_sentences(target))
    for done, (src, tgt) in enumerate(pairs):
        if src is None or tgt is None:
            shorter, longer = (target, source) if tgt is None else (source, target)
            end, n_longer = counted(done, "line", form="d"), done + 1 + sum(1 for _ in pairs)
            raise InputError(f"the file ends after {end}; {shown(longer)} has {n_longer}", shown(shorter), done + 1)
        yield src, tgt


def read_pair_groups(path: AnyPath, most: int = GROUP) -> Iterator[Bitext]:
    """Read sentence pairs, source and target on one line with a tab or `|||` between them.

    A group consists of the lines that have arrived, so no answer is delayed until another line arrives.
    """
    done = 0
    for lines in read_sentence_groups(path, most):
        sides = [_split(line, path, done + n) for n, line in enumerate(lines, start=1)]
        yield Bitext(_text([src for src, _ in sides], path, done), _text([tgt for _, tgt in sides], path, done))
        done += len(lines)


def _split(line: str, path: AnyPath, number: int) -> tuple[str, str]:
    parts = line.split("\t") if "\t" in line else line.split(SEPARATOR)
    if len(parts) != 2:
        what = f"expected a source and a target sentence with a tab or ||| between them, found {len(parts)} part"
        raise InputError(what + "s" * (len(parts) != 1), shown(path), number)
    return parts[0].strip(" "), parts[1].strip(" ")


def _text(lines: list[str], path: AnyPath, done: int) -> Text:
    try:
        return Text.of(lines)
    except InputError as error:
        raise InputError(error.what, shown(path), done + (error.line or 0)) from error
