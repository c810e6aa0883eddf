"""Sentence pairs of files, a group at a time.

A group has at most a few thousand pairs, so memory does not grow with the input. A saved aligner gives a pair the same
links in any group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.files import AnyPath, read_sentence_groups, read_sentences, shown
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.corpus.raw import RawLines

GROUP = 4096


@dataclass(frozen=True)
class PairText:
    """The files of sentence pairs: two texts, line by line translations, or one with a pair on each line; `-` is stdin.

    A line with a pair has a tab or `|||` between source and target. Sentences may be empty. Raw text is tokenized with its
    processing, `raw`.
    """

    source: AnyPath
    target: AnyPath | None = None
    raw: TextProcessing | None = None

    def groups(self, most: int = GROUP) -> Iterator[Bitext]:
        """Pairs in groups of at most `most`. Lines of pairs are not delayed until another line arrives."""
        target, done = self.source if self.target is None else self.target, 0
        for pairs in self._lines(most) if self.target is None else self._parallel(target, most):
            sides = (None, None) if self.raw is None else self.raw.sides.values()
            columns = zip(zip(*pairs, strict=True), (self.source, target), sides, strict=True)
            src, tgt = (_text(lines, path, done, side) for lines, path, side in columns)
            yield Bitext(src, tgt, text=self.raw)
            done += len(pairs)

    def read(self, processes: int = 1) -> Bitext:
        """All pairs of two texts at once."""
        return Bitext.read(self.source, str(self.target), languages=self.raw, empty=True, processes=processes)

    def _lines(self, most: int) -> Iterator[list[tuple[str, str]]]:
        """Groups of lines that arrive together, each line as source and target."""
        done = 0
        for lines in read_sentence_groups(self.source, most, lenient=True):
            pairs = []
            for number, line in enumerate(lines, start=done + 1):
                sides = line.split("\t") if "\t" in line else line.split("|||")
                if len(sides) != 2:
                    what = "expected a source and a target sentence with a tab or ||| between them, found "
                    raise InputError(what + counted(len(sides), "part", form="d"), shown(self.source), number)
                pairs.append((sides[0].strip(" "), sides[1].strip(" ")))
            yield pairs
            done += len(lines)

    def _parallel(self, target: AnyPath, most: int) -> Iterator[list[tuple[str, str]]]:
        """Groups of lines of two texts of the same length."""
        read = read_sentences if self.raw is None else RawLines
        lines, done = zip_longest(read(self.source), read(target)), 0
        while pairs := list(islice(lines, most)):
            complete = [(src, tgt) for src, tgt in pairs if src is not None and tgt is not None]
            done += len(complete)
            if len(complete) < len(pairs):
                shorter, longer = (target, self.source) if pairs[-1][1] is None else (self.source, target)
                n_longer = done + len(pairs) - len(complete) + sum(1 for _ in lines)
                end = counted(done, "line", form="d")
                raise InputError(f"the file ends after {end}; {shown(longer)} has {n_longer}", shown(shorter), done + 1)
            yield complete


def _text(lines: Sequence[str], path: AnyPath, done: int, raw: TextSide | None) -> Text:
    try:
        return replace(Text.of(lines) if raw is None else raw.read(lines), path=shown(path))
    except InputError as error:
        raise InputError(error.what, shown(path), done + (error.line or 0)) from error
