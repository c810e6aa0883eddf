"""Tokenization and tagging of raw text: lines are read with or without repair, and processed in chunks in parallel."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import InputError, SentenceError
from hyperbaton.base.ordered import ordered_map
from hyperbaton.corpus.detokenizers import unescaped
from hyperbaton.corpus.files import AnyPath, feed, read_byte_lines, shown
from hyperbaton.corpus.taggers import Tagger
from hyperbaton.corpus.text import Faults, Text
from hyperbaton.corpus.tokenizers import Tokenizer

T = TypeVar("T")

CHUNK = 2000  # lines
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = bytes.maketrans(b"\r\t", b"  ")


class RawLines:
    """The lines of a raw text. A fault is an InputError, or with `repair` an empty line, listed in `faults`.

    Repair skips byte order marks and treats carriage returns and tabs as blanks, as it does for tokenized text.
    """

    def __init__(self, path: AnyPath, repair: bool = False) -> None:
        self.path, self.repair = path, repair
        self._faults: list[tuple[int, int]] = []

    def __iter__(self) -> Iterator[str]:
        for n, line in enumerate(read_byte_lines(self.path)):
            if self.repair:
                line = line.removeprefix(_BYTE_ORDER_MARK).translate(_BLANKS)
            if kind := _core.find_fault(line):
                if not self.repair:
                    raise InputError(_core.describe_fault(kind), shown(self.path), n + 1)
                self._faults.append((n, kind))
                line = b""
            yield line.decode("utf-8")

    @property
    def faults(self) -> Faults:
        """The lines emptied so far."""
        pairs = np.array(self._faults, np.int64).reshape(-1, 2)
        return Faults(pairs[:, 0], pairs[:, 1].astype(np.uint8))


def tokenize(lines: Iterable[str], tokenizer: Tokenizer, n_processes: int = 1) -> Iterator[tuple[bytes, bytes]]:
    """Yield chunks of tokenized lines, and of their tags, one output line with its end for each input line.

    Tag lines are blank if the tokenizer has no tags. The result does not depend on `n_processes`.

    >>> from hyperbaton.corpus.tokenizers import make_tokenizer
    >>> [tokens for tokens, tags in tokenize(["a  b", ""], make_tokenizer("none"))]
    [b'a b\\n\\n']
    """
    tokenizer.split("")  # reports a missing library at once
    return _in_chunks(partial(_tokenize_chunk, tokenizer), lines, n_processes)


def tag(lines: Iterable[str], tagger: Tagger, n_processes: int = 1) -> Iterator[bytes]:
    """Yield chunks of the tags of tokenized lines, one line for each; the result does not depend on `n_processes`."""
    tagger([["a"]])  # reports a missing library or model at once
    return _in_chunks(partial(_tag_chunk, tagger), lines, n_processes)


def _in_chunks(work: Callable[[list[str]], T], lines: Iterable[str], n_processes: int) -> Iterator[T]:
    """Apply `work` to chunks of the lines, in order, in several processes if there is more than one chunk."""
    source = iter(lines)
    chunks = iter(lambda: list(islice(source, CHUNK)), [])
    start = list(islice(chunks, 2))
    if n_processes < 2 or len(start) < 2:
        yield from (work(chunk) for chunk in chain(start, chunks))
        return
    # New processes, not forks: a fork of a process with threads may hang.
    with ProcessPoolExecutor(
        n_processes,
        multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(work,),
    ) as pool:
        yield from ordered_map(pool, 2 * n_processes, _work, chain(start, chunks))


def read_raw(
    source: AnyPath | Sequence[str], tokenizer: Tokenizer, repair: bool = False, n_processes: int = 1
) -> tuple[Text, Faults]:
    """Read a raw text, a file or a list of lines, through a tokenizer, and the lines that repair emptied.

    Without repair, the text has the place of each token in its line.
    """
    path, lines = (source, RawLines(source, repair)) if isinstance(source, str | PathLike) else (None, source)
    builder, places = _core.TextBuilder(_core.Vocabulary(), repair), [np.zeros((0, 2), np.int32)]

    def pieces() -> Iterator[bytes]:
        if repair:
            yield from (tokens for tokens, _ in tokenize(lines, tokenizer, n_processes))
            return
        tokenizer.split("")  # reports a missing library at once
        for tokens, located in _in_chunks(partial(_locate_chunk, tokenizer), lines, n_processes):
            places.append(located)
            yield tokens

    try:
        feed(builder, path or "-", pieces())
    except InputError as error:
        if path is None:
            raise SentenceError(error.what, error.line or 0) from error
        raise
    text, too_long = Text.taken(builder, None if path is None else shown(path))
    faults = lines.faults if isinstance(lines, RawLines) else Faults(*builder.faults())
    faults = Faults(np.append(faults.lines, too_long.lines), np.append(faults.kinds, too_long.kinds))
    return text if repair else replace(text, places=np.concatenate(places)), faults


def locate(line: str, tokens: Sequence[str]) -> list[tuple[int, int]]:
    """The characters of a line, half-open, from which each token was made.

    A token that the tokenizer changed takes the characters between its neighbours.

    >>> locate('He said: "I am"', ["He", "said", ":", "&quot;", "I", "am", "``"])
    [(0, 2), (3, 7), (7, 8), (9, 10), (10, 11), (12, 14), (14, 15)]
    """
    places: list[tuple[int, int]] = []
    at = n_changed = 0
    for token in tokens:
        begin = at
        while line[begin : begin + 1].isspace() and not line.startswith(token, begin):
            begin += 1
        written = token if line.startswith(token, begin) else unescaped(token)
        if not line.startswith(written, begin):
            begin = line.find(written, begin) if n_changed else -1
        if begin < 0:
            n_changed += 1
            continue
        places += [_without_blanks(line, at, begin)] * n_changed
        at, n_changed = begin + len(written), 0
        places.append((begin, at))
    return places + [_without_blanks(line, at, len(line))] * n_changed


def _without_blanks(line: str, begin: int, end: int) -> tuple[int, int]:
    text = line[begin:end]
    begin = end - len(text.lstrip())
    return begin, begin + len(text.strip())


def _tokenize_chunk(tokenizer: Tokenizer, lines: list[str]) -> tuple[bytes, bytes]:
    tokens, tags = [], []
    for line in lines:
        line_tokens, line_tags = tokenizer(line)
        tokens.append(" ".join(line_tokens) + "\n")
        tags.append(" ".join(line_tags) + "\n")
    return "".join(tokens).encode("utf-8", "surrogatepass"), "".join(tags).encode()  # the reader reports surrogates


def _locate_chunk(tokenizer: Tokenizer, lines: list[str]) -> tuple[bytes, npt.NDArray[np.int32]]:
    tokens, _ = _tokenize_chunk(tokenizer, lines)
    sentences = (line.split() for line in tokens.decode("utf-8", "surrogatepass").split("\n"))
    places = [place for line, words in zip(lines, sentences, strict=False) for place in locate(line, words)]
    return tokens, np.array(places, np.int32).reshape(-1, 2)


def _tag_chunk(tagger: Tagger, lines: list[str]) -> bytes:
    sentences = [[token for token in line.split(" ") if token] for line in lines]  # other blanks may be part of a token
    return "".join(" ".join(tags) + "\n" for tags in tagger(sentences)).encode()


_worker: Callable[[list[str]], Any]


def _start_worker(work: Callable[[list[str]], Any]) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and stops its workers
    _worker = work


def _work(lines: list[str]) -> Any:
    return _worker(lines)
