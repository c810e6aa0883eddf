"""Annotated sentences in files, and their projection into the other language, sentence by sentence.

| kind | input file | projection |
|---|---|---|
| tags | CoNLL: a word on each line with its columns, an empty line after each sentence | word, tab, tag |
| spans | JSON lines: `tokens` or `text`, and `spans` of `begin`, `end`, `label` | JSON lines of the target |
| markup | lines of tokens with inline tags | lines of target tokens with inline tags |
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypedDict

from hyperbaton.align.inline_markup import MarkedSentence, parse_inline, project_markup
from hyperbaton.align.projection import (
    Conflict,
    Points,
    Span,
    SpanProjector,
    check_split,
    is_bio,
    project_bio,
    project_labels,
)
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Links, Text
from hyperbaton.corpus.files import AnyPath, read_lines, shown, writing_outputs

KINDS = ("tags", "spans", "markup")
UPOS = 4  # column of the universal tag in CoNLL-U


@dataclass(frozen=True)
class ProjectionOptions:
    """Options for reading and projecting annotation files.

    `column` is the column of the tag in a CoNLL file, counted from 1; None means UPOS in CoNLL-U (if the file name contains
    .conllu) and the last column in other files. With `characters`, spans are positions of characters in `text`, not of
    words.
    """

    split: str | None = None
    column: int | None = None
    unlinked: str = "_"
    characters: bool = False


class AnnotatedSentence(ABC):
    """A source sentence with annotations to project, and the line of the file on which it begins."""

    words: list[str]
    line: int

    @abstractmethod
    def project(self, target: list[str], links: Points) -> tuple[str, list[Conflict]]:
        """The text of the annotated target sentence, and the conflicts."""


@dataclass
class TaggedSentence(AnnotatedSentence):
    """Words, each with a tag."""

    words: list[str]
    tags: list[str]
    line: int
    options: ProjectionOptions
    bio: bool = False

    def project(self, target: list[str], links: Points) -> tuple[str, list[Conflict]]:
        if self.bio:
            found = project_bio(self.tags, links, len(target), split=self.options.split or "largest")
        else:
            found = project_labels(self.tags, links, len(target), unlinked=self.options.unlinked)
        rows = (f"{word}\t{label}\n" for word, label in zip(target, found.labels, strict=True))
        return "".join([*rows, "\n"]), found.conflicts


@dataclass
class SpannedSentence(AnnotatedSentence):
    """Words with spans; `record` is the JSON object in the file."""

    words: list[str]
    spans: list[tuple[Span, dict[str, object]]]  # each with its other JSON keys
    record: dict[str, object]
    line: int
    options: ProjectionOptions
    conflicts: list[Conflict] = field(default_factory=list)

    def project(self, target: list[str], links: Points) -> tuple[str, list[Conflict]]:
        rows, conflicts = [], list(self.conflicts)
        begins = [0, *accumulate(len(word) + 1 for word in target)]
        projector = SpanProjector(links, len(self.words), len(target), split=self.options.split or "largest")
        for span, rest in self.spans:
            found = projector.project(span)
            conflicts += found.conflicts
            for new in found.spans:
                ends = new.begin, new.end
                if self.options.characters:
                    ends = begins[new.begin], begins[new.end] - 1
                rows.append({**rest, "begin": ends[0], "end": ends[1], "label": new.label})
        words = target if "tokens" in self.record else " ".join(target)
        record = {**self.record, "tokens" if "tokens" in self.record else "text": words, "spans": rows}
        return json.dumps(record, ensure_ascii=False) + "\n", conflicts


@dataclass
class MarkedLine(AnnotatedSentence):
    """A sentence with inline markup."""

    sentence: MarkedSentence
    line: int
    options: ProjectionOptions

    def __post_init__(self) -> None:
        self.words = self.sentence.words

    def project(self, target: list[str], links: Points) -> tuple[str, list[Conflict]]:
        found = project_markup(self.sentence, target, links, split=self.options.split or "repeat")
        return found.text + "\n", found.conflicts


class ProjectionCounts(TypedDict):
    """The number of sentences, and of conflicts by kind."""

    sentences: int
    conflicts: dict[str, int]


def project_files(
    kind: str,
    source: AnyPath,
    target: AnyPath,
    links: AnyPath,
    output: AnyPath,
    options: ProjectionOptions | None = None,
    *,
    report: AnyPath | None = None,
    progress: Progress | None = None,
) -> ProjectionCounts:
    """Project the annotations of a file onto the sentences of another text; `-` is stdout.

    Arguments:
        kind: one of KINDS, the content of `source`.
        target: tokenized text, one line for each annotated sentence.
        report: file for the conflicts, one JSON object per line.

    """
    options = options or ProjectionOptions()
    if kind not in _READERS:
        raise OptionError(f"unknown kind of annotation {kind!r}; known: {', '.join(KINDS)}")
    if options.split is not None:
        check_split(options.split)
    if not options.unlinked.isprintable():
        raise OptionError(
            f"--unlinked must be a tag without tabs, line ends or control characters, not {options.unlinked!r}"
        )
    places = {"--output": output} | ({} if report is None else {"--report": report})
    counts: Counter[str] = Counter()
    with writing_outputs(places, [source, target, links]) as outputs:
        sentences = list(_READERS[kind](source, options))
        _settle_bio(sentences)
        src, tgt = _words(sentences, source), Text.read(target)
        if len(src) != len(tgt):
            what = f"{counted(len(src), 'annotated sentence')}, but {shown(target)} has {counted(len(tgt), 'line')}"
            raise InputError(what, shown(source))
        points = Links.read(links, src, tgt)
        for s, sentence in enumerate(sentences):
            text, conflicts = sentence.project(tgt[s], points[s])
            outputs["--output"].write(text.encode())
            counts.update(conflict.kind for conflict in conflicts)
            if report is not None:
                rows = ({"sentence": s + 1, "line": sentence.line, **conflict.to_json()} for conflict in conflicts)
                outputs["--report"].write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
            if progress is not None and s % 1000 == 0:
                progress(s, len(sentences))
    return {"sentences": len(sentences), "conflicts": dict(sorted(counts.items()))}


def _words(sentences: list[AnnotatedSentence], path: AnyPath) -> Text:
    try:
        return Text.of([" ".join(sentence.words) for sentence in sentences])
    except InputError as error:
        raise InputError(error.what, shown(path), sentences[(error.line or 1) - 1].line) from error


def _settle_bio(sentences: list[AnnotatedSentence]) -> None:
    """Treat tags as BIO if all tags in the file are BIO tags."""
    tagged = [sentence for sentence in sentences if isinstance(sentence, TaggedSentence)]
    if is_bio(tag for sentence in tagged for tag in sentence.tags):
        for sentence in tagged:
            sentence.bio = True


def _read_conll(path: AnyPath, options: ProjectionOptions) -> Iterator[AnnotatedSentence]:
    """The sentences of a CoNLL file, without -DOCSTART- lines and CoNLL-U lines that are not words."""
    universal = ".conllu" in Path(path).name
    column = options.column or (UPOS if universal else 0)
    words: list[str] = []
    tags: list[str] = []
    first = 1
    n = 0
    for n, line in enumerate(read_lines(path), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            if words and words[0] != "-DOCSTART-":
                yield TaggedSentence(words, tags, first, options)
            words, tags = [], []
            continue
        if universal and line.startswith("#"):
            continue
        cells = line.split("\t") if "\t" in line else line.split()
        if universal and not cells[0].isdigit():
            continue
        if len(cells) < max(2, column):
            raise InputError(f"expected a word and its tag in column {column or 2}, found {line[:40]!r}", shown(path), n)
        first = first if words else n
        words.append(cells[1 if universal else 0].replace(" ", "_"))
        tags.append(cells[column - 1].strip() or "_")
    if words and words[0] != "-DOCSTART-":
        yield TaggedSentence(words, tags, first, options)


def _read_spans(path: AnyPath, options: ProjectionOptions) -> Iterator[AnnotatedSentence]:
    for n, line in enumerate(read_lines(path), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"expected a JSON object, found {line[:40]!r}", shown(path), n) from None
        try:
            _check_characters(record, line)
            yield _spanned(record, n, options)
        except InputError as error:
            raise InputError(error.what, shown(path), n) from error


def _check_characters(record: object, line: str) -> None:
    """Raise an error for an unpaired surrogate, which only an escape can produce and which cannot be encoded."""
    if "\\u" not in line:
        return
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        escape = f"\\u{ord(error.object[error.start]):04x}"
        raise InputError(f"the escape {escape} is half of a character; its other half must precede or follow it") from None


def _spanned(record: object, line: int, options: ProjectionOptions) -> SpannedSentence:
    if not isinstance(record, dict) or not isinstance(record.get("spans", []), list):
        raise InputError("expected an object with tokens or text, and a list of spans")
    tokens, text = record.get("tokens"), record.get("text")
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) and not options.characters:
        words = [token.replace(" ", "_") for token in tokens]
    elif isinstance(text, str) and (tokens is None or options.characters):
        words = text.split(" ") if options.characters else text.split()
    else:
        raise InputError("expected tokens, a list of words, or text" if not options.characters else "expected text")
    found = SpannedSentence([word for word in words if word], [], record, line, options)
    places = _Places(words) if options.characters else None
    for row in record.get("spans", []):
        keys = ("begin", "end", "label")
        if not isinstance(row, dict) or any(key not in row for key in keys):
            raise InputError(f"a span has begin, end and label, not {json.dumps(row, ensure_ascii=False)[:60]}")
        begin, end, label = (row[key] for key in keys)
        if any(isinstance(at, bool) or not isinstance(at, int) for at in (begin, end)) or not isinstance(label, str):
            raise InputError("the begin and end of a span must be whole numbers, and its label text")
        if places is not None:
            begin, end = places.span(begin, end, label, found.conflicts)
        if not 0 <= begin < end <= len(found.words):
            raise InputError(f"the span {row['begin']} to {row['end']} encloses no words of the sentence")
        found.spans.append((Span(begin, end, label), {key: value for key, value in row.items() if key not in keys}))
    return found


class _Places:
    """The character positions of the words of a text."""

    def __init__(self, pieces: list[str]) -> None:
        """`pieces` are the strings between single spaces, some of them empty."""
        begins = [0, *accumulate(len(piece) + 1 for piece in pieces)]
        self._starts = [begin for begin, piece in zip(begins, pieces, strict=False) if piece]
        self._ends = [begin + len(piece) for begin, piece in zip(begins, pieces, strict=False) if piece]

    def span(self, begin: int, end: int, label: str, conflicts: list[Conflict]) -> tuple[int, int]:
        """The words that overlap a span of characters."""
        first, last = bisect_right(self._ends, begin), bisect_left(self._starts, end)
        if 0 <= first < last <= len(self._starts) and (self._starts[first] < begin or self._ends[last - 1] > end):
            conflicts.append(Conflict("inside", label, (first, last)))
        return (first, last) if begin >= 0 else (-1, last)


def _read_markup(path: AnyPath, options: ProjectionOptions) -> Iterator[AnnotatedSentence]:
    for n, line in enumerate(read_lines(path), start=1):
        try:
            yield MarkedLine(parse_inline(line), n, options)
        except InputError as error:
            raise InputError(error.what, shown(path), n) from error


_READERS: dict[str, Callable[[AnyPath, ProjectionOptions], Iterator[AnnotatedSentence]]] = {
    "tags": _read_conll,
    "spans": _read_spans,
    "markup": _read_markup,
}
