"""For any bytes, a reader returns a result or raises HyperbatonError, however the bytes are split into pieces."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.corpus import Dependencies, Links, Tags, Text, Trees, read_conllu
from hyperbaton.corpus.files import read_lines, read_pieces, zstd
from hyperbaton.corpus.raw import RawLines

TEXT = Text.of(["a b", "", "( c"])

# Bytes that look a little like what the readers expect, with faults of every kind among them.
FRAGMENTS = [
    *(b"\n", b" ", b"\t", b"\r", b"\x00", b"|||", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe4\xbb"),
    *(b"a", b"b", b"c", b"(", b")", b"(S", b"-LRB-", b"0-0", b"1-1", b"9-9", b"-", b"1\t", b"2\t", b"3\t"),
    *(b"(S a b)", b"(S ( c))", b"(())", b"# Sentence pair", b"NULL ({ 1 })", b"({", b"})", b"a ({ 1 2 }) "),
    *(b"1\ta\ta\tX\tX\t_\t0\tr\t_\t_\n", b"2\tb\tb\tX\tX\t_\t1\tr\t_\t_\n\n", b"1-2\t_", b"#", "他".encode()),
    *(
        b"\\data\\\nngram 1=3\n",
        b"ngram 2=1\n",
        b"\n\\1-grams:\n-1 <s> -1\n-1\t</s>\n-1 a\n",
        b"\\2-grams:\n-1 <s> a\n",
        b"\\end\\\n",
    ),
    *(b"0-0\n\n0-0\n", b"a b\n\n( c\n", b"(S a b)\n\n(S -LRB- c)\n", b"99999999999999999999"),
]
content = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(b"".join))

MAKERS: dict[str, Callable[[], Any]] = {
    "text": lambda: _core.TextBuilder(_core.Vocabulary(), False),
    "repaired text": lambda: _core.TextBuilder(_core.Vocabulary(), True),
    "pharaoh": lambda: _core.PharaohReader(TEXT.offsets, TEXT.offsets),
    "giza": lambda: _core.GizaReader(TEXT.offsets, TEXT.offsets, _core.Direction.TO_TARGET),
    "reversed giza": lambda: _core.GizaReader(TEXT.offsets, TEXT.offsets, _core.Direction.TO_SOURCE),
    "trees": lambda: _core.TreeReader(TEXT.core_tokens, TEXT.vocabulary.spelling),
    "checked conllu": lambda: _core.ConlluReader(TEXT.core_tokens, TEXT.vocabulary.spelling),
    "conllu": lambda: _core.ConlluReader(),
    "arpa": lambda: _core.ArpaReader(1),
}


def outcome(make: Callable[[], Any], pieces: list[bytes]) -> Any:
    reader = make()
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
    except _core.LineError as error:
        message, line = error.args
        assert line >= 1 and "\n" not in message
        return message, line
    return [column.tolist() for column in reader.take()]


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=150)
@given(content=content, cuts=st.lists(st.integers(0, 200), max_size=5))
def test_core_readers(name: str, content: bytes, cuts: list[int]) -> None:
    whole = outcome(MAKERS[name], [content])
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    assert outcome(MAKERS[name], [content[a:b] for a, b in pairwise(ends)]) == whole
    if name == "repaired text":
        assert isinstance(whole, list)  # repair accepts everything
        assert len(whole[1]) - 1 == content.count(b"\n") + (content != b"" and not content.endswith(b"\n"))


@settings(max_examples=200)
@given(content=content, cuts=st.lists(st.integers(0, 200), max_size=5))
def test_line_filter(content: bytes, cuts: list[int]) -> None:
    n = content.count(b"\n") + (content != b"" and not content.endswith(b"\n"))
    keep = np.arange(n) % 3 != 1
    lines = _core.LineFilter(keep.astype(np.uint8))
    ends = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    out = b"".join(lines.feed(content[a:b]) for a, b in pairwise(ends)) + lines.finish()
    assert out == b"".join(line + b"\n" for line, kept in zip(content.split(b"\n"), keep, strict=False) if kept)


READERS: list[Callable[[Path], Any]] = [
    Text.read,
    lambda path: Text.read_with_faults(path, True),
    lambda path: Tags.read(path, TEXT),
    lambda path: Trees.read(path, TEXT),
    lambda path: Dependencies.read(path, TEXT),
    read_conllu,
    lambda path: Links.read(path, TEXT, TEXT),
    lambda path: list(read_lines(path)),
    lambda path: list(RawLines(path)),
    lambda path: list(RawLines(path, repair=True)),
]


@settings(max_examples=150)
@given(
    content=content,
    pack=st.sampled_from([bytes, gzip.compress, lzma.compress, zstd.compress]),
    members=st.integers(1, 3),
    cut=st.integers(0, 40),
    flip=st.one_of(st.none(), st.tuples(st.integers(0, 200), st.integers(1, 255))),
)
@example(content=b"", pack=zstd.compress, members=1, cut=0, flip=None)
def test_files(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    pack: Callable[[bytes], bytes],
    members: int,
    cut: int,
    flip: tuple[int, int] | None,
) -> None:
    """Compressed, in several members, cut off or damaged: a result or an error that names the file."""
    data = bytearray(pack(content) * members)
    del data[len(data) - cut :]
    if flip is not None and flip[0] < len(data):
        data[flip[0]] ^= flip[1]
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(data)
    for read in READERS:
        try:
            read(path)
        except HyperbatonError as error:
            assert isinstance(error, InputError) and str(error).startswith(f"{path}:")
            assert "\n" not in str(error)


@given(
    contents=st.lists(st.binary(min_size=1, max_size=50), min_size=1, max_size=4),
    pack=st.sampled_from([gzip.compress, lzma.compress, zstd.compress]),
    cut=st.integers(1, 5),
)
def test_members_are_joined_and_cuts_are_noticed(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], pack: Callable[[bytes], bytes], cut: int
) -> None:
    path = tmp_path_factory.mktemp("members") / "file"
    data = b"".join(pack(content) for content in contents)
    path.write_bytes(data)
    assert b"".join(read_pieces(path)) == b"".join(contents)
    # Less than a member, and not into the bytes that tell the kind of file.
    path.write_bytes(data[:-cut])
    with pytest.raises(InputError, match="damaged or cut off in this line"):
        list(read_pieces(path))
