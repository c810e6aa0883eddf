"""Text files as streams of bytes, plain or compressed (gz, xz, zst), in and out.

Compression is recognised by content when reading and by name when writing. `-` is stdin or stdout.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, cast

import zstandard

from hyperbaton.base.errors import InputError, LineError
from hyperbaton.base.progress import default_threads
from hyperbaton.base.store import writing_files

AnyPath = str | PathLike[str]
S = TypeVar("S")
T = TypeVar("T")

PIECE = 1 << 20
_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def shown(path: AnyPath) -> str:
    """What a file that is read is called in messages."""
    return "standard input" if os.fspath(path) == "-" else os.fspath(path)


def read_pieces(path: AnyPath) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed, in pieces."""
    name = shown(path)
    n_lines, kind = 0, "file"
    try:
        with contextlib.ExitStack() as stack:
            if os.fspath(path) == "-":
                raw: BinaryIO = sys.stdin.buffer
            else:
                raw = stack.enter_context(Path(path).open("rb"))
            buffered = io.BufferedReader(cast(io.RawIOBase, raw), PIECE)
            stack.callback(buffered.detach)
            start = buffered.peek(8)[:8]
            kind = next((k for magic, k in _MAGIC.items() if start.startswith(magic)), "plain")
            stream: BinaryIO = _decompressing(kind, buffered)
            while piece := stream.read(PIECE):
                n_lines += piece.count(b"\n")
                yield piece
    except FileNotFoundError as error:
        raise InputError("no such file", name) from error
    except (EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError, gzip.BadGzipFile) as error:
        raise InputError(f"the {kind} file is damaged or cut off in this line ({error})", name, n_lines + 1) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", name) from error


def _decompressing(kind: str, raw: io.BufferedReader[Any]) -> BinaryIO:
    if kind == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw, mode="rb"))
    if kind == "xz":
        return cast(BinaryIO, lzma.LZMAFile(raw, "rb"))
    if kind == "zstd":
        return cast(BinaryIO, _StrictZstd(raw))
    return cast(BinaryIO, raw)


class _StrictZstd:
    """Reads zstd frames and, unlike the library's stream, complains when the last one is cut off."""

    def __init__(self, raw: io.BufferedReader[Any]) -> None:
        self.raw, self.rest, self.frame = raw, b"", zstandard.ZstdDecompressor().decompressobj()

    def read(self, size: int) -> bytes:
        while True:
            piece = self.rest or self.raw.read(size)
            self.rest = b""
            if not piece:
                if not self.frame.eof:
                    raise EOFError("the last frame is not complete")
                return b""
            if self.frame.eof:
                self.frame = zstandard.ZstdDecompressor().decompressobj()
            out = self.frame.decompress(piece)
            if self.frame.eof:
                self.rest = self.frame.unused_data
            if out:
                return out


class Reader(Protocol):
    """A reader of the core: takes pieces, then is finished."""

    def feed(self, piece: bytes) -> None: ...
    def finish(self) -> None: ...


def feed(reader: Reader, path: AnyPath, pieces: Iterable[bytes] | None = None) -> None:
    """Feed a whole file, or what was made of it, to a reader of the core, naming file and line in its errors."""
    try:
        for piece in read_pieces(path) if pieces is None else pieces:
            reader.feed(piece)
        reader.finish()
    except LineError as error:
        message, line = error.args
        raise InputError(message, shown(path), line) from error


def feed_lines(reader: Reader, lines: Iterable[str]) -> None:
    """Feed lines in memory to a reader of the core, naming the line in its errors."""
    try:
        for n, line in enumerate(lines, start=1):
            if "\n" in line:
                raise LineError("the sentence contains a line end", n)
            # Lone surrogates are for the reader to complain about.
            reader.feed(line.encode("utf-8", "surrogatepass") + b"\n")
        reader.finish()
    except LineError as error:
        message, number = error.args
        fault = InputError(f"sentence {number}: {message}")
        fault.what, fault.line = message, number  # for those who know the file
        raise fault from error


def read_byte_lines(path: AnyPath) -> Iterator[bytes]:
    """Yield the lines of a file as they are, without their ends."""
    rest = b""
    for piece in read_pieces(path):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
    if rest:
        yield rest


def read_lines(path: AnyPath) -> Iterator[str]:
    """Yield the lines of a small text file, without their ends."""
    for n, line in enumerate(read_byte_lines(path), start=1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError("not valid UTF-8", shown(path), n) from error


def write_pieces(path: AnyPath, pieces: Iterable[bytes]) -> None:
    """Write pieces of text to a file, compressed as its name says; all or nothing. `-` is stdout."""
    if os.fspath(path) == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    write_files({os.fspath(path): pieces})


def write_files(outputs: Mapping[str, Iterable[bytes]]) -> None:
    """Write several files that belong together, each compressed as its name says: all of them, or none."""
    with writing_files(list(outputs)) as asides:
        for aside, (name, pieces) in zip(asides, outputs.items(), strict=True):
            encode = _ENCODERS.get(Path(name).suffix)
            with aside.open("wb") as file:
                if encode is None:
                    file.writelines(pieces)
                else:
                    # Each block is a member of its own: blocks compress on all processors, and the file is one .gz.
                    with ThreadPoolExecutor(default_threads()) as pool:
                        ahead = 2 * default_threads()
                        file.writelines(ordered_map(pool, ahead, encode, _blocks(pieces, 4 << 20)))


def _gzip_member(block: bytes) -> bytes:
    return gzip.compress(block, compresslevel=3, mtime=0)


_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": _gzip_member,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}
COMPRESSIONS = tuple(_ENCODERS)


def _blocks(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join pieces into blocks of at least `size` bytes; at least one block, so that an empty file is valid too."""
    held: list[bytes] = []
    n_held, any_block = 0, False
    for piece in pieces:
        held.append(piece)
        n_held += len(piece)
        if n_held >= size:
            yield b"".join(held)
            held, n_held, any_block = [], 0, True
    if held or not any_block:
        yield b"".join(held)


def ordered_map(pool: Executor, ahead: int, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Map on the workers of a pool, results in order, at most `ahead` items in flight."""
    waiting: deque[Future[T]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
