"""Sentences to translate, with their annotations and constraints: split into batches, or read from files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import AnnotationError, InputError, OptionError, SentenceError
from hyperbaton.corpus import Annotations, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.files import (
    AnyPath,
    read_line_groups,
    read_sentence_groups,
    read_sentences,
)
from hyperbaton.decode.markup import Constraints, parse_markup

if TYPE_CHECKING:  # most text has neither
    from hyperbaton.corpus import Tags, Trees

BATCH = 256  # sentences translated together

# Characters that no token may contain: control characters, and unpaired surrogates from JSON escapes.
_CONTROL = re.compile("[\x00-\x1f\x7f\ufeff\ud800-\udfff]")


class AnnotatedLines(NamedTuple):
    """Sentences without markup, their annotations, and the constraints on the translation of each, if there are any."""

    lines: Sequence[str]
    annotations: Annotations = NOTHING
    constraints: Sequence[Constraints] = ()

    @classmethod
    def parse(cls, lines: Sequence[str], markup: bool, first: int = 0) -> Self:
        """Remove the `markup` from lines; `first` is the number of lines before them, for error messages."""
        if not markup:
            return cls(lines)
        parsed = [parse_markup(line, number) for number, line in enumerate(lines, start=first + 1)]
        return cls([line for line, _ in parsed], constraints=[limits for _, limits in parsed])


def without_control(line: str) -> str:
    """A line whose tokens have no control characters; such a character ends a token."""
    return _CONTROL.sub(" ", line)


def words_of(line: str) -> list[str]:
    """The tokens of a line as the search sees them, separated only by blanks.

    >>> words_of("a\\tb  c\\u00a0d")
    ['a', 'b', 'c\\xa0d']
    """
    return [word for word in without_control(line).split(" ") if word]


def without_separator(line: str) -> str:
    """Escape Moses' field separator, which cannot be a token, as Moses' tokenizer does."""
    return line.replace("|||", "&#124;" * 3)


def annotate(lines: Sequence[str], *, tags: Sequence[str] | None = None, trees: Sequence[str] | None = None) -> Annotations:
    """Parse the annotations of sentences: lines with a tag for each word, and lines with a bracketed tree or nothing.

    >>> annotate(["he eats"], tags=["PRP VBZ"]).source_tags[0]
    ['PRP', 'VBZ']
    """
    for kind, column in (("tags", tags), ("trees", trees)):
        if column is not None:
            _check_number(kind, len(column), len(lines), ended=True)
    if tags is None and trees is None:
        return NOTHING
    text = Text.of([without_separator(without_control(line)) for line in lines])
    return Annotations(
        source_tags=None if tags is None else _tags_of(tags, text),
        source_trees=None if trees is None else _trees_of(trees, text),
    )


def in_batches(
    sentences: Iterable[str], annotations: Annotations, size: int, *, markup: bool = False
) -> Iterator[AnnotatedLines]:
    """Sentences in batches, each with its part of the annotations."""
    if isinstance(sentences, str):
        raise OptionError("expected a list of sentences, not a single one: put it into a list")
    labels = {
        kind: len(column)
        for kind, column in (("tags", annotations.source_tags), ("trees", annotations.source_trees))
        if column is not None
    }
    rest, done = iter(sentences), 0
    while lines := list(islice(rest, size)):
        for kind, n in labels.items():
            _check_number(kind, n, done + len(lines), ended=False)
        part = annotations.select(np.arange(done, done + len(lines))) if labels else annotations
        yield AnnotatedLines.parse(lines, markup, done)._replace(annotations=part)
        done += len(lines)
    for kind, n in labels.items():
        _check_number(kind, n, done, ended=True)


@dataclass(frozen=True)
class SourceText:
    """The files of a text to translate: sentences with tags and trees, or `raw` text; `-` is stdin.

    With `markup`, annotations are those of the words without the markup in the sentences.
    """

    source: AnyPath
    tags: AnyPath | None = None
    trees: AnyPath | None = None
    raw: bool = False
    markup: bool = False

    def page(self) -> Iterator[AnnotatedLines]:
        """The whole text as one line, unless it is empty."""
        if lines := [line for group in self.groups() for line in group.lines]:
            yield AnnotatedLines(["\n".join(lines)])

    def groups(self, most: int = BATCH) -> Iterator[AnnotatedLines]:
        """Lines as they arrive, in groups of at most `most`."""
        read = read_line_groups if self.raw else partial(read_sentence_groups, lenient=True)
        return self._annotated(read(self.source, most))

    def _annotated(self, groups: Iterable[Sequence[str]]) -> Iterator[AnnotatedLines]:
        """Groups of lines with the corresponding lines of tags and trees, each yielded as soon as it is read."""
        if self.raw:  # lines may end in CR LF
            yield from (AnnotatedLines([line.removesuffix("\r") for line in lines]) for lines in groups)
            return
        columns: dict[str, Iterator[str]] = {}
        if self.tags is not None:
            columns["tags"] = read_sentences(self.tags, lenient=True)
        if self.trees is not None:
            from hyperbaton.corpus import read_tree_lines

            columns["trees"] = read_tree_lines(self.trees)
        done = 0
        for lines in groups:
            labels = {kind: list(islice(column, len(lines))) for kind, column in columns.items()}
            for kind, column in labels.items():
                _check_number(kind, done + len(column), done + len(lines), ended=False)
            sentences = AnnotatedLines.parse(lines, self.markup, done)
            try:
                annotations = annotate(sentences.lines, **labels)
            except SentenceError as error:
                raise error.moved(done) from error
            yield sentences._replace(annotations=annotations)
            done += len(lines)
        # Missing trees at the end of a file count as empty lines.
        if next(columns.get("trees", iter(())), ""):
            _check_number("trees", done + 1, done, ended=True)
        if next(columns.get("tags", iter(())), None) is not None:
            _check_number("tags", done + 1, done, ended=True)


def _check_number(kind: str, n: int, n_sentences: int, *, ended: bool) -> None:
    """Refuse too few annotations and, after the last sentence, leftover annotations."""
    if n < n_sentences:
        raise AnnotationError(kind, f"only {counted(n, 'line')} of {kind}, fewer than of text", n + 1)
    if ended and n > n_sentences:
        what = "trees" if kind == "trees" else f"lines of {kind}"
        raise AnnotationError(
            kind, f"there are more {what} than the {counted(n_sentences, 'line')} of text", n_sentences + 1
        )


def _tags_of(lines: Sequence[str], text: Text) -> Tags:
    from hyperbaton.corpus import Tags

    clean = [without_control(line) for line in lines]
    check_tags(Text.of(clean).lengths, text.lengths)
    return Tags.of(clean, text)


def check_tags(n_tags: Array, n_words: Array) -> None:
    """Report a sentence that does not have one tag for each word."""
    for s in np.flatnonzero(n_tags != n_words).tolist():
        raise AnnotationError("tags", f"{counted(n_tags[s], 'tag')} for {counted(n_words[s], 'word')}", s + 1)


def _trees_of(lines: Sequence[str], text: Text) -> Trees:
    from hyperbaton.corpus import Trees

    try:
        return Trees.of([without_separator(line) for line in lines], text)
    except InputError as error:
        raise AnnotationError("trees", error.what, error.line or 1) from error
