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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar, cast

import zstandard

from hyperbaton.base.errors import InputError, LineError
from hyperbaton.base.progress import default_threads
from hyperbaton.base.store import writing_file

AnyPath = str | PathLike[str]
T = TypeVar("T")

PIECE = 1 << 20
_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def read_pieces(path: AnyPath) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed, in pieces."""
    name = "standard input" if os.fspath(path) == "-" else path
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
        raise InputError(f"the {kind} file is damaged or cut off after this line ({error})", name, n_lines) from error
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


def feed(reader: Reader, path: AnyPath) -> None:
    """Feed a whole file to a reader of the core, naming file and line in its errors."""
    try:
        for piece in read_pieces(path):
            reader.feed(piece)
        reader.finish()
    except LineError as error:
        message, line = error.args
        raise InputError(message, "standard input" if os.fspath(path) == "-" else path, line) from error


def read_lines(path: AnyPath) -> Iterator[str]:
    """Yield the lines of a small text file, without their ends."""
    rest = b""
    n = 0
    for piece in read_pieces(path):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            n += 1
            yield _decode(line, path, n)
    if rest:
        yield _decode(rest, path, n + 1)


def _decode(line: bytes, path: AnyPath, n: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("not valid UTF-8", path, n) from error


def write_pieces(path: AnyPath, pieces: Iterable[bytes]) -> None:
    """Write pieces of text to a file, compressed as its name says; all or nothing. `-` is stdout."""
    name = os.fspath(path)
    if name == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    encode: Callable[[bytes], bytes] = bytes
    if name.endswith(".gz"):
        encode = _gzip_member
    elif name.endswith(".zst"):
        encode = zstandard.compress
    elif name.endswith(".xz"):
        encode = lzma.compress
    with writing_file(path) as aside, aside.open("wb") as file:
        if encode is bytes:
            file.writelines(pieces)
        else:
            # Each block is a member of its own, so blocks compress on all processors and the file is still one .gz.
            file.writelines(_ordered_map(encode, _blocks(pieces, 4 << 20)))


def _gzip_member(block: bytes) -> bytes:
    return gzip.compress(block, compresslevel=3, mtime=0)


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


def _ordered_map(function: Callable[[bytes], T], items: Iterable[bytes]) -> Iterator[T]:
    """Map on all processors, results in order, a bounded number of items in flight."""
    n_threads = default_threads()
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[T]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
