"""Annotated sentences in files, and their projection into the other language, sentence by sentence.

| kind | input file | projection |
|---|---|---|
| tags | CoNLL: a word on each line with its columns, an empty line after each sentence | word, tab, tag |
| spans | JSON lines: `tokens` or `text`, and `spans` of `begin`, `end`, `label` | JSON lines of the target |
| markup | lines of tokens with inline tags | lines of target tokens with inline tags |

With the processing of raw text, the target is raw text, `text` and lines with markup are raw, and spans are characters.
Names of other programs are read and written too: `start` (spaCy, Prodigy), `start_offset` and `end_offset` (doccano).
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple, TypedDict, TypeVar

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
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.corpus.raw import RawLines, locate
from hyperbaton.corpus.text import has_attached_mark

KINDS = ("tags", "spans", "markup")
UPOS = 4  # column of the universal tag in CoNLL-U
# Names in JSON: of the list of spans, and of the ends of a span.
_LISTS = ("spans", "ents", "entities")
_ENDS = ("begin", "start", "start_offset"), ("end", "end_offset")
T = TypeVar("T")
Projected = tuple[str, list[Conflict]]  # text, and conflicts


@dataclass(frozen=True)
class ProjectionOptions:
    """Options for reading and projecting annotation files.

    `column` is the column of the tag in a CoNLL file, counted from 1; None means UPOS in CoNLL-U (if the file name contains
    .conllu) and the last column in other files. With `characters`, spans are positions of characters in `text`, not of
    words. `processing` is that of raw text.
    """

    split: str | None = None
    column: int | None = None
    unlinked: str = "_"
    characters: bool = False
    processing: TextProcessing | None = None

    @property
    def in_characters(self) -> bool:
        """Whether spans are characters."""
        return self.characters or self.processing is not None


class TargetSentence(NamedTuple):
    """The words of a target sentence, its line, and the places of the words there."""

    words: list[str]
    line: str
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, words: list[str]) -> TargetSentence:
        """Words separated by single spaces."""
        begins = accumulate((len(word) + 1 for word in words), initial=0)
        places = [(begin, begin + len(word)) for begin, word in zip(begins, words, strict=False)]
        return cls(words, " ".join(words), places)


class AnnotatedSentence(NamedTuple):
    """The words of a source sentence, the line of the file on which it begins, and what projects its annotations.

    `project` makes the text of the annotated target sentence from its words and links, and lists the conflicts.
    """

    words: list[str]
    line: int
    project: Callable[[TargetSentence, Points], Projected]


def _project_tags(
    tags: list[str], bio: bool, options: ProjectionOptions, target: TargetSentence, links: Points
) -> Projected:
    words = target.words
    if bio:
        projection = project_bio(tags, links, len(words), split=options.split or "largest")
    else:
        projection = project_labels(tags, links, len(words), unlinked=options.unlinked)
    rows = (f"{word}\t{label}\n" for word, label in zip(words, projection.labels, strict=True))
    return "".join([*rows, "\n"]), projection.conflicts


class SpannedSentence(NamedTuple):
    """Words with spans; `record` is the JSON object in the file."""

    words: list[str]
    spans: list[tuple[Span, dict[str, object], tuple[str, str]]]  # each with its other JSON keys, and those of its ends
    record: dict[str, object]
    conflicts: list[Conflict]


def _project_spans(
    sentence: SpannedSentence, options: ProjectionOptions, target: TargetSentence, links: Points
) -> Projected:
    rows, conflicts, record = [], list(sentence.conflicts), sentence.record
    projector = SpanProjector(links, len(sentence.words), len(target.words), split=options.split or "largest")
    for span, rest, names in sentence.spans:
        projection = projector.project(span)
        conflicts += projection.conflicts
        for new in projection.spans:
            ends = new.begin, new.end
            if options.in_characters:
                ends = target.places[new.begin][0], target.places[new.end - 1][1]
            rows.append({**rest, **dict(zip(names, ends, strict=True)), "label": new.label})
    words = {"tokens": target.words} if "tokens" in record else {"text": target.line}
    return json.dumps({**record, **words, _list_name(record): rows}, ensure_ascii=False) + "\n", conflicts


def _project_markup(
    sentence: MarkedSentence, options: ProjectionOptions, target: TargetSentence, links: Points
) -> Projected:
    words = [target.line[begin:end] for begin, end in target.places]
    ends = [0, *(end for _, end in target.places)]
    spaces = [target.line[end:begin] for end, (begin, _) in zip(ends, target.places, strict=False)]
    translation = project_markup(sentence, words, links, split=options.split or "repeat", spaces=spaces)
    return f"{translation.text}{target.line[ends[-1] :]}\n", translation.conflicts


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
        target: one line for each annotated sentence: tokenized text, or raw text if the options process it.
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
        sentences = _READERS[kind](source, options)
        src, (tgt, targets) = _words(sentences, source), _targets(target, options)
        if len(src) != len(tgt):
            what = f"{counted(len(src), 'annotated sentence')}, but {shown(target)} has {counted(len(tgt), 'line')}"
            raise InputError(what, shown(source))
        try:
            points = Links.read(links, src, tgt)
        except InputError as error:
            _explain_words(error, sentences, src, source, tgt, target)
            raise
        for s, sentence in enumerate(sentences):
            text, conflicts = sentence.project(targets(s), points[s])
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


def _targets(path: AnyPath, options: ProjectionOptions) -> tuple[Text, Callable[[int], TargetSentence]]:
    """The target text, and each of its sentences by number."""
    if options.processing is None:
        text = Text.read(path)
        return text, lambda s: TargetSentence.of(text[s])
    raw = options.processing.target.read(lines := list(RawLines(path)))
    return raw, lambda s: TargetSentence(raw[s], lines[s], raw.places_of(s))


def _explain_words(
    error: InputError, sentences: list[AnnotatedSentence], src: Text, source: AnyPath, tgt: Text, target: AnyPath
) -> None:
    """Raise an InputError about the words of a sentence if they do not fit its links because they are raw text."""
    n = (error.line or len(src) + 1) - 1
    for text, path, line in ((src, source, sentences[n].line), (tgt, target, n + 1)) if n < len(src) else ():
        if word := next(filter(has_attached_mark, text[n]), ""):
            what = f"{word!r} is not tokenized, so the links do not fit; give --languages, here and to 'hyperbaton align'"
            raise InputError(what, shown(path), line) from error


def _read_conll(path: AnyPath, options: ProjectionOptions) -> list[AnnotatedSentence]:
    """The sentences of a CoNLL file; their tags are BIO tags if all tags in the file are."""
    rows = list(_conll_rows(path, options))
    bio = is_bio(tag for _, tags, _ in rows for tag in tags)
    return [AnnotatedSentence(words, first, partial(_project_tags, tags, bio, options)) for words, tags, first in rows]


def _conll_rows(path: AnyPath, options: ProjectionOptions) -> Iterator[tuple[list[str], list[str], int]]:
    """Words, tags and first line of each sentence, without -DOCSTART- lines and CoNLL-U lines that are not words."""
    universal = ".conllu" in Path(path).name
    column = options.column or (UPOS if universal else 0)
    words: list[str] = []
    tags: list[str] = []
    first = 1
    for n, line in enumerate(chain(read_lines(path), [""]), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            if words and words[0] != "-DOCSTART-":
                yield words, tags, first
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


def _read_spans(path: AnyPath, options: ProjectionOptions) -> list[AnnotatedSentence]:
    sentences = _parsed(path, lambda line: _spanned(line, options))
    return [AnnotatedSentence(each.words, n, partial(_project_spans, each, options)) for n, each in sentences]


def _read_markup(path: AnyPath, options: ProjectionOptions) -> list[AnnotatedSentence]:
    tokenizer = None if options.processing is None else options.processing.source.make_tokenizer()
    sentences = _parsed(path, lambda line: parse_inline(line, tokenizer))
    return [AnnotatedSentence(each.words, n, partial(_project_markup, each, options)) for n, each in sentences]


def _parsed(path: AnyPath, parse: Callable[[str], T]) -> Iterator[tuple[int, T]]:
    """The lines of a file with their numbers, parsed."""
    for n, line in enumerate(read_lines(path), start=1):
        try:
            yield n, parse(line)
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


def _spanned(line: str, options: ProjectionOptions) -> SpannedSentence:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"expected a JSON object, found {line[:40]!r}") from None
    _check_characters(record, line)
    if not isinstance(record, dict) or not isinstance(record.get(_list_name(record), []), list):
        raise InputError("expected an object with tokens or text, and a list of spans")
    tokens, text = record.get("tokens"), record.get("text")
    places = None
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) and not options.in_characters:
        words = [token.replace(" ", "_") for token in tokens]
    elif isinstance(text, str) and (tokens is None or options.in_characters):
        words = text.split(" ") if options.characters else text.split()
        if options.processing is not None:
            words = options.processing.source.make_tokenizer()(text)[0]
        if options.in_characters:
            record.pop("tokens", None)  # of the source text
            words = [word for word in words if word]
            places = _Places(locate(text, words))
    else:
        raise InputError("expected tokens, a list of words, or text" if not options.in_characters else "expected text")
    sentence = SpannedSentence(words, [], record, [])
    for row in record.get(_list_name(record), []):
        names = [next((name for name in known if name in row), "") for known in _ENDS] if isinstance(row, dict) else [""]
        if not all(names) or "label" not in row:
            raise InputError(f"a span has begin, end and label, not {json.dumps(row, ensure_ascii=False)[:60]}")
        first, last, label = row[names[0]], row[names[1]], row["label"]
        if any(isinstance(at, bool) or not isinstance(at, int) for at in (first, last)) or not isinstance(label, str):
            raise InputError("the begin and end of a span must be whole numbers, and its label text")
        begin, end = (first, last) if places is None else places.span(first, last, label, sentence.conflicts)
        if not 0 <= begin < end <= len(sentence.words):
            raise InputError(f"the span {first} to {last} encloses no words of the sentence")
        rest = {key: value for key, value in row.items() if key not in (*names, "label", "token_start", "token_end")}
        sentence.spans.append((Span(begin, end, label), rest, (names[0], names[1])))
    return sentence


def _list_name(record: dict[str, object]) -> str:
    """The key of the spans of a record."""
    return next((name for name in _LISTS if name in record), _LISTS[0])


class _Places:
    """The character positions of the words of a text."""

    def __init__(self, places: list[tuple[int, int]]) -> None:
        self._starts, self._ends = [begin for begin, _ in places], [end for _, end in places]

    def span(self, begin: int, end: int, label: str, conflicts: list[Conflict]) -> tuple[int, int]:
        """The words that overlap a span of characters."""
        first, last = bisect_right(self._ends, begin), bisect_left(self._starts, end)
        if 0 <= first < last <= len(self._starts) and (self._starts[first] < begin or self._ends[last - 1] > end):
            conflicts.append(Conflict("inside", label, (first, last)))
        return (first, last) if begin >= 0 else (-1, last)


_READERS = {"tags": _read_conll, "spans": _read_spans, "markup": _read_markup}
