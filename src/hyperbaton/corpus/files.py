"""Text files as streams of bytes, plain or compressed (gz, xz, zst), in and out.

Compression is recognised by content when reading and by name when writing. `-` is stdin or stdout.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import io
import itertools
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError, LineError, SentenceError
from hyperbaton.base.outputs import Destination, check_places, is_stdout
from hyperbaton.base.outputs import shown as shown  # readers name their files in messages
from hyperbaton.base.progress import default_threads
from hyperbaton.base.writing import is_special, writing_files

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

AnyPath = str | PathLike[str]

PIECE = 1 << 20
LONGEST_LINE = 64 << 20  # bytes; input without line ends is refused at this length, before it fills memory
CHUNK = 4 << 20  # bytes that are compressed together
_HAS_ISAL = importlib.util.find_spec("isal") is not None  # not on rare processors
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x50\x2a\x4d\x18": "zstd",  # a skippable frame, with which files of pzstd begin
    # Formats that are recognised only to refuse them. A text may begin with BZh, but only bzip2 continues like this.
    **{b"BZh%d%s" % (level, block): "bzip2" for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x04\x22\x4d\x18": "lz4",
}


def read_pieces(path: AnyPath) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed, in pieces, each as soon as it arrives; refuse endless lines."""
    name = shown(path)
    n_lines, kind = 0, "file"
    n_begun, too_long = 0, f"the line is longer than {LONGEST_LINE >> 20} MiB"  # bytes of the line not yet complete
    try:
        with contextlib.ExitStack() as stack:
            if os.fspath(path) == "-":
                raw = cast(io.BufferedReader, sys.stdin.buffer)
            else:
                raw = stack.enter_context(Path(path).open("rb"))
            # Not read(), which waits until all requested bytes have arrived.
            chunks = iter(lambda: raw.read1(PIECE), b"")
            start = _start(chunks)
            suffix = Path(name).suffix
            if not start and suffix in _ENCODERS:
                raise InputError(f"the file is empty, so it is not a complete {suffix} file", name)
            kind = next((k for magic, k in _MAGIC.items() if start.startswith(magic)), "plain")
            if kind != "plain" and kind not in _MEMBERS:
                raise InputError(f"is a {kind} file: decompress it, or compress it as .gz, .xz or .zst", name)
            rest = itertools.chain([start] if start else [], chunks)
            for piece in rest if kind == "plain" else _decompressed(kind, rest):
                n_ends = piece.count(b"\n")
                if n_ends and n_begun + piece.index(b"\n") > LONGEST_LINE:
                    raise InputError(too_long, name, n_lines + 1)
                n_begun = len(piece) - piece.rindex(b"\n") - 1 if n_ends else n_begun + len(piece)
                n_lines += n_ends
                if n_begun > LONGEST_LINE:
                    raise InputError(too_long, name, n_lines + 1)
                yield piece
    except FileNotFoundError as error:
        raise InputError("no such file", name) from error
    except (EOFError, lzma.LZMAError, zlib.error, zstd.ZstdError) as error:
        raise InputError(f"the {kind} file is damaged or cut off in this line ({error})", name, n_lines + 1) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", name) from error


def _start(chunks: Iterator[bytes]) -> bytes:
    """The first bytes of a file, enough to recognise its compression; a pipe may deliver them one by one."""
    start = b""
    for chunk in chunks:
        start += chunk
        if not any(magic.startswith(start) for magic in _MAGIC):
            break
    return start


# Decompressors of one member of a file (gzip's term; a stream of xz, a frame of zstd).
_MEMBERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS),
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
    "zstd": zstd.ZstdDecompressor,
}
_SLICE = 8 << 10  # bytes decompressed at once, to bound the size of their output too


def _decompressed(kind: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress all members of a file; the last one must be complete, and nothing else may follow it.

    The libraries' streams are less strict: they ignore data after the first member if it does not look like a member.
    """
    new, n_complete = _MEMBERS[kind], 0
    foreign = f"what follows the end of its data is not {kind}"
    member = None
    untouched = True  # this member has no output yet
    begun = b""  # its first bytes
    n_zeros = 0  # zeros after a member

    def check_padding() -> None:
        if kind == "xz" and n_zeros % 4:
            raise EOFError(f"{n_zeros} bytes of padding follow its data, which must be a multiple of 4")

    for chunk in chunks:
        for at in range(0, len(chunk), _SLICE):
            rest = chunk[at : at + _SLICE]
            while rest:
                if member is None:
                    # gzip and xz files may be padded with zeros.
                    padded, rest = rest, rest if kind == "zstd" else rest.lstrip(b"\0")
                    n_zeros += len(padded) - len(rest)
                    if not rest:
                        break
                    check_padding()
                    member, untouched, n_zeros, begun = new(), True, 0, rest[:6]
                try:
                    piece = member.decompress(rest)
                except (lzma.LZMAError, zlib.error, zstd.ZstdError) as error:
                    if n_complete and untouched:
                        raise EOFError(foreign) from error
                    raise
                untouched = untouched and not piece
                rest = member.unused_data if member.eof else b""
                if member.eof:
                    member, n_complete = None, n_complete + 1
                if piece:
                    yield piece
    if member is not None:
        known = any(magic.startswith(begun[: len(magic)]) for magic, name in _MAGIC.items() if name == kind)
        raise EOFError("its end is missing" if known or not n_complete else foreign)
    check_padding()


class Reader(Protocol):
    """A reader of the core: takes pieces, then is finished."""

    def feed(self, piece: bytes) -> None: ...
    def finish(self) -> None: ...


def feed(reader: Reader, path: AnyPath, pieces: Iterable[bytes] | None = None) -> None:
    """Feed a whole file, or pieces derived from it, to a reader of the core, naming file and line in its errors."""
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
            # The reader reports lone surrogates.
            reader.feed(line.encode("utf-8", "surrogatepass") + b"\n")
        reader.finish()
    except LineError as error:
        message, number = error.args
        raise SentenceError(message, number) from error


def read_byte_lines(path: AnyPath) -> Iterator[bytes]:
    """Yield the lines of a file as bytes, without their ends."""
    return itertools.chain.from_iterable(_arriving_lines(path))


def _arriving_lines(path: AnyPath) -> Iterator[list[bytes]]:
    """Yield the lines of a file as bytes, in groups that arrive together."""
    begun: list[bytes] = []  # pieces of the incomplete line
    for piece in read_pieces(path):
        first, *lines = piece.split(b"\n")
        begun.append(first)
        if lines:
            *complete, last = [b"".join(begun), *lines]
            begun = [last]
            yield complete
    if last := b"".join(begun):
        yield [last]


def _line_groups(path: AnyPath, most: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield groups of at most `most` lines that arrive together, each with the 1-based number of its first line."""
    first = 1
    for lines in _arriving_lines(path):
        for at in range(0, len(lines), most):
            yield first + at, lines[at : at + most]
        first += len(lines)


def read_lines(path: AnyPath) -> Iterator[str]:
    """Yield the lines of a small text file, without their ends."""
    return itertools.chain.from_iterable(read_line_groups(path))


def read_line_groups(path: AnyPath, most: int = 256) -> Iterator[list[str]]:
    """Yield the lines of a text in groups of at most `most`, without waiting for more lines while one is available."""
    for first, group in _line_groups(path, most):
        decoded = []
        for number, line in enumerate(group, start=first):
            try:
                decoded.append(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise InputError("not valid UTF-8", shown(path), number) from error
        yield decoded


def read_sentences(path: AnyPath, lenient: bool = False) -> Iterator[str]:
    """Yield the lines of a tokenized text; a line that `Text.read` refuses is an error.

    `lenient` is for text to translate and for metrics, which accept any character: control characters are blanks there.
    No line may have more tokens than the core can number.
    """
    return itertools.chain.from_iterable(read_sentence_groups(path, lenient=lenient))


def read_sentence_groups(path: AnyPath, most: int = 256, *, lenient: bool = False) -> Iterator[list[str]]:
    """Yield the lines of `read_sentences` in groups of at most `most`, without waiting for more while one is available."""
    for first, group in _line_groups(path, most):
        for number, line in enumerate(group, start=first):
            if fault := _core.find_sentence_fault(line, lenient):
                raise InputError(_core.describe_fault(fault), shown(path), number)
        yield [line.decode("utf-8") for line in group]


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
                file.writelines(pieces if encode is None else _encoded(pieces, encode))


def _encoded(pieces: Iterable[bytes], encode: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Compress chunks on all processors; each is a separate member, in gzip's term, of one valid file."""
    from concurrent.futures import ThreadPoolExecutor  # imported here: readers do not need it

    from hyperbaton.base.ordered import ordered_map

    with ThreadPoolExecutor(default_threads()) as pool:
        yield from ordered_map(pool, 2 * default_threads(), encode, _chunks(pieces, CHUNK))


class Output:
    """A file that is being written, compressed as its name says."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name, self._file, self._encode = name, file, _ENCODERS.get(Path(name).suffix)
        self._pieces: list[bytes] = []  # of the next chunk that is compressed
        self._size, self._any_chunk = 0, False

    def write(self, piece: bytes) -> None:
        """Add bytes to the file."""
        if self._encode is None:
            self._put(piece)
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size >= CHUNK:
            self._put_chunk(self._encode)

    def flush(self) -> None:
        """Write the data that can be written before the end."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._failure(error) from error

    def finish(self) -> None:
        """Write the remaining data; a compressed file has at least one chunk."""
        if self._encode is not None and (self._pieces or not self._any_chunk):
            self._put_chunk(self._encode)
        self.flush()

    def _put_chunk(self, encode: Callable[[bytes], bytes]) -> None:
        chunk = encode(b"".join(self._pieces))
        self._pieces, self._size, self._any_chunk = [], 0, True
        self._put(chunk)

    def _put(self, piece: bytes) -> None:
        try:
            self._file.write(piece)
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> Exception:
        if isinstance(error, BrokenPipeError):
            return _ReaderGone()
        name = "standard output" if self._name == "-" else self._name
        return HyperbatonError(f"{name}: cannot be written: {error.strerror or error}")


class _ReaderGone(Exception):
    """The reader of an output has closed it."""


@contextlib.contextmanager
def writing_outputs(outputs: Mapping[str, AnyPath], inputs: Iterable[AnyPath] = ()) -> Iterator[dict[str, Output]]:
    """Open several outputs to write in parallel, by the names of their options; `-` is stdout.

    All files appear when the block ends without an error, or none. Two outputs to one place, and an output that is also an
    input, are errors.
    """
    check_places([Destination(option, path) for option, path in outputs.items()], inputs)
    names = {option: "-" if is_stdout(path) else os.fspath(path) for option, path in outputs.items()}
    streams = {option: name for option, name in names.items() if name != "-" and is_special(Path(name))}
    files = {option: name for option, name in names.items() if name != "-" and option not in streams}
    try:
        with contextlib.ExitStack() as stack:
            asides = stack.enter_context(writing_files(list(files.values()))) if files else []
            paths = {option: Path(name) for option, name in streams.items()} | dict(zip(files, asides, strict=True))
            opened = {
                option: stack.enter_context(_opened(paths[option])) if option in paths else sys.stdout.buffer
                for option in names
            }
            written = {option: Output(name, opened[option]) for option, name in names.items()}
            yield written
            for output in written.values():
                output.finish()
    except _ReaderGone as gone:
        raise BrokenPipeError from gone


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for an Output, which flushes it: any error on closing has been reported before."""
    file = path.open("wb")
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):
            file.close()


def _gzip_member(chunk: bytes) -> bytes:
    if not _HAS_ISAL:
        return gzip.compress(chunk, compresslevel=3, mtime=0)
    from isal import isal_zlib

    # A sixth of the time, and 7% more space.
    return isal_zlib.compress(chunk, 1, wbits=16 + zlib.MAX_WBITS)


_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": _gzip_member,
    ".xz": lzma.compress,
    ".zst": lambda chunk: zstd.compress(chunk, options={zstd.CompressionParameter.checksum_flag: 1}),
}
COMPRESSIONS = tuple(_ENCODERS)


def _chunks(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join pieces into chunks of at least `size` bytes; at least one chunk, so that an empty file is valid too."""
    waiting: list[bytes] = []
    n_waiting, any_chunk = 0, False
    for piece in pieces:
        waiting.append(piece)
        n_waiting += len(piece)
        if n_waiting >= size:
            yield b"".join(waiting)
            waiting, n_waiting, any_chunk = [], 0, True
    if waiting or not any_chunk:
        yield b"".join(waiting)
