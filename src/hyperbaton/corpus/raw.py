"""Tokenization and tagging of raw text: lines are read with or without repair, and processed in chunks in parallel."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base.errors import InputError
from hyperbaton.base.executors import ordered_map
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


def read_raw(path: AnyPath, tokenizer: Tokenizer, repair: bool = False, n_processes: int = 1) -> tuple[Text, Faults]:
    """Read a raw text through a tokenizer, and the lines that repair emptied."""
    lines = RawLines(path, repair)
    builder = _core.TextBuilder(_core.Vocabulary(), repair)
    feed(builder, path, (tokens for tokens, _ in tokenize(lines, tokenizer, n_processes)))
    text, too_long = Text.taken(builder, shown(path))
    faults = lines.faults
    return text, Faults(np.append(faults.lines, too_long.lines), np.append(faults.kinds, too_long.kinds))


def _tokenize_chunk(tokenizer: Tokenizer, lines: list[str]) -> tuple[bytes, bytes]:
    tokens, tags = [], []
    for line in lines:
        line_tokens, line_tags = tokenizer(line)
        tokens.append(" ".join(line_tokens) + "\n")
        tags.append(" ".join(line_tags) + "\n")
    return "".join(tokens).encode(), "".join(tags).encode()


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
