"""Every fault of an input is one line that says what is wrong and where, read by a class or given to a command."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.fuzz.bad_inputs import TEXT_COMMANDS, TEXT_FAULTS, cases, check, prepare

from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.cli import verbs
from hyperbaton.corpus import Bitext, Dependencies, Links, Tags, Text, Trees, read_conllu
from hyperbaton.corpus.files import read_lines, read_pieces, zstd

TEXT = Text.of(["a b", "c"])
N_CASES = 150  # of benchmarks/fuzz/bad_inputs.py


def message(path: Path, content: bytes, read: Callable[[Path], Any]) -> str:
    """The message of a reader about a file, without the folder."""
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    text = str(caught.value)
    assert "\n" not in text
    return text.removeprefix(f"{path.parent}/")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"a|||b", "token contains '|||', the field separator of Moses files"),
        (b"a\tb", "control character (tab, NUL or the like) where only spaces may separate tokens"),
        (b"a \x00", "control character (tab, NUL or the like) where only spaces may separate tokens"),
        (b"a\r", "carriage return (Windows line ends?)"),
        (b"\xef\xbb\xbfa", "byte order mark (U+FEFF) at the start of the line"),
        (b"\xc0\xaf", "not valid UTF-8"),  # overlong /
        (b"\xe0\x80\xaf", "not valid UTF-8"),
        (b"\xed\xa0\x80", "not valid UTF-8"),  # surrogate
        (b"\xf4\x90\x80\x80", "not valid UTF-8"),  # beyond U+10FFFF
        (b"x\xe4\xbb", "not valid UTF-8"),  # cut off
        (b"a " * 60001, "more than 60000 tokens"),
    ],
)
def test_lines_of_text(tmp_path: Path, line: bytes, what: str) -> None:
    path = tmp_path / "x.txt"
    assert message(path, b"fine\n" + line + b"\nfine\n", Text.read) == f"x.txt:2: {what}"


def pack_zstd(content: bytes) -> bytes:
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, pack_zstd])
def test_compression_is_read_to_its_end_or_an_error(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "x"
    content = pack(b"a\nb\nc\n" * 20)
    one = [["a"], ["b"], ["c"]] * 20

    def damaged(packed: bytes) -> str:
        text = message(path, packed, Text.read)
        start = r"x:\d+: the (gzip|xz|zstd) file is damaged or cut off in this line \((.*)\)"
        match = re.fullmatch(start, text)
        assert match is not None, text
        return match[2]

    def flipped(at: int) -> bytes:
        at %= len(content)
        return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]

    path.write_bytes(content + content)  # several members are one text
    assert list(Text.read(path)) == one + one
    for end in (1, 4, 6, 12, len(content) - 8):
        assert damaged(content[:-end]) == "its end is missing"
        assert damaged(content + content[:-end]) == "its end is missing"
    assert damaged(content + b"more\n" * 10).startswith("what follows the end of its data is not")
    assert damaged(content + flipped(1)).startswith("what follows the end of its data is not")  # the start of its header
    assert damaged(content + b"m").startswith("what follows the end of its data is not")
    # The checksum: at the end of gzip files and zstd frames, before the index and the footer of xz.
    damaged(flipped({gzip.compress: -8, lzma.compress: -30}.get(pack, -1)))


@pytest.mark.parametrize(("pack", "end"), [(gzip.compress, "gz"), (lzma.compress, "xz"), (pack_zstd, "zst")])
def test_empty_compressed_files(tmp_path: Path, pack: Callable[[bytes], bytes], end: str) -> None:
    path = tmp_path / f"x.{end}"
    path.write_bytes(pack(b""))
    assert list(Text.read(path)) == []
    assert message(path, b"", Text.read) == f"x.{end}: the file is empty, so it is not a complete .{end} file"
    path.write_bytes(pack(b"") + pack(b"a\n") + b"\0" * (0 if end == "zst" else 8))
    assert list(Text.read(path)) == [["a"]]


def test_padding_of_xz(tmp_path: Path) -> None:
    path, content = tmp_path / "x", lzma.compress(b"a\n")
    fault = (
        "the xz file is damaged or cut off in this line (3 bytes of padding follow its data, which must be a multiple of 4)"
    )
    assert message(path, content + b"\0" * 3, Text.read) == f"x:2: {fault}"
    assert message(path, content + b"\0" * 3 + content, Text.read) == f"x:2: {fault}"
    path.write_bytes(content + b"\0" * 4 + content)
    assert list(Text.read(path)) == [["a"], ["a"]]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (bz2.compress(b"a\n"), "bzip2"),
        (bz2.compress(b"", 1), "bzip2"),
        (b"PK\x03\x04", "zip"),
        (b"7z\xbc\xaf\x27\x1c\0", "7z"),
        (b"\x04\x22\x4d\x18a", "lz4"),
    ],
)
def test_unknown_compression_is_not_text(tmp_path: Path, content: bytes, kind: str) -> None:
    said = message(tmp_path / "x", content, Text.read)
    assert said == f"x: is a {kind} file: decompress it, or compress it as .gz, .xz or .zst"
    (tmp_path / "x").write_bytes(b"BZh9 is a word\n")
    assert Text.read(tmp_path / "x")[0][0] == "BZh9"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, pack_zstd])
def test_lines_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    monkeypatch.setattr("hyperbaton.corpus.files.LONGEST_LINE", 1 << 20)
    path, longest = tmp_path / "x", b" " * (1 << 20)
    without_end, with_end = pack(b"\n" + longest + b" "), pack(longest + b" \n")
    for read in (Text.read, lambda path: list(read_lines(path)), lambda path: Links.read(path, TEXT)):
        assert message(path, without_end, read) == "x:2: the line is longer than 1 MiB"
        assert message(path, with_end, read) == "x:1: the line is longer than 1 MiB"
    path.write_bytes(pack(longest + b"\n" + longest))
    assert b"".join(read_pieces(path)) == longest + b"\n" + longest


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
def test_a_device_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperbaton.corpus.files.LONGEST_LINE", 1 << 20)
    with pytest.raises(InputError, match=r"^/dev/zero:1: the line is longer than 1 MiB$"):
        Text.read("/dev/zero")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for read in (Text.read, read_conllu, lambda path: Tags.read(path, TEXT), lambda path: Links.read(path, TEXT, TEXT)):
        with pytest.raises(InputError, match=r"/missing: no such file$"):
            read(tmp_path / "missing")
        with pytest.raises(InputError, match=rf"^{re.escape(str(tmp_path))}: cannot be read: Is a directory$"):
            read(tmp_path)


def test_bitext(tmp_path: Path) -> None:
    path, other = tmp_path / "x", tmp_path / "y"
    other.write_text("1\n2\n3\n")

    def read(path: Path) -> Bitext:
        return Bitext.read(path, other)

    assert message(path, b"1\n2\n", read) == f"x:3: the file ends after 2 lines; {other} has 3"
    assert message(path, b"1\n\n3\n", read) == "x:2: the line is empty; 'hyperbaton clean' drops such sentence pairs"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"0-0\n", "2: the file ends after 1 line; the text has 2 sentence pairs"),
        (b"0-0\n0-0\n0-0\n", "3: more lines than the 2 sentence pairs of the text"),
        (b"0-0 2-0\n\n", "1: link '2-0' is out of range: the source sentence has positions 0 to 1"),
        (b"\n0-1\n", "2: link '0-1' is out of range: the target sentence has positions 0 to 0"),
        (b"0-0 \xff\xe4\n\n", "1: expected links like 0-0, found '??'"),
        (b"0-0\r\n\r\n", "1: carriage return (Windows line ends?)"),
    ],
)
def test_links(tmp_path: Path, content: bytes, what: str) -> None:
    assert message(tmp_path / "x", content, lambda path: Links.read(path, TEXT, TEXT)) == f"x:{what}"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"A B\n", "2: 1 line of labels for the 2 lines of the text"),
        (b"A B\nC D\n", "2: 2 labels for the 1 tokens of line 2 of the text"),
        (b"A B\n\n", "2: 0 labels for the 1 tokens of line 2 of the text"),
        (b"A B\nC\xff\n", "2: not valid UTF-8"),
    ],
)
def test_tags(tmp_path: Path, content: bytes, what: str) -> None:
    assert message(tmp_path / "x", content, lambda path: Tags.read(path, TEXT)) == f"x:{what}"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"(S a b)\n", "2: 1 line for the 2 of the text"),
        (b"(S a b)\n(S c)\n\n", "3: more lines than the 2 of the text"),
        (b"\n\n\n", "3: 3 lines for the 2 of the text"),
        (b"(S a x)\n\n", "1: word 2 is 'x', but line 1 of the text has 'b'"),
        (b"(S a)\n\n", "1: 1 word, but line 1 of the text has 2"),
        (b"\n(S c d)\n", "2: word 2 is 'd', but line 2 of the text has only 1 word"),
        (b"(S a b\n\n", "1: a bracket is not closed"),
        (b"(S a b))\n\n", "1: there is one closing bracket too many"),
        (b"(S a b) (S a b)\n\n", "1: more than one tree on the line"),
        (b"(S a (X) b)\n\n", "1: a bracket contains no word"),
        (b"a b\n\n", "1: expected a bracketed tree, found 'a'"),
        (b"(S a\tb)\n\n", "1: control character (tab, NUL or the like) where only spaces may separate tokens"),
        (b"(S\xff a b)\n\n", "1: not valid UTF-8"),
        (b"3\t(S c)\n", "1: there is no sentence 3: the text has 2"),
        (b"2\t(S c)\n1\t(S a b)\n", "2: sentence 1 is repeated or out of order: numbers must increase"),
        (b"1\t(S a b)\n(S c)\n", "2: expected a sentence number, a tab and a tree, found '(S c)'"),
        (b"1\t(S a b)\n2\t(S d)\n", "2: word 1 is 'd', but line 2 of the text has 'c'"),
    ],
)
def test_trees(tmp_path: Path, content: bytes, what: str) -> None:
    assert message(tmp_path / "x", content, lambda path: Trees.read(path, TEXT)) == f"x:{what}"


def test_brackets_without_words_are_not_a_tree() -> None:
    trees = Trees.of(["(())", "()"], TEXT)
    assert [trees[0], trees[1]] == [[], []]


def row(number: object, form: str, head: object) -> str:
    return f"{number}\t{form}\t_\tX\tY\t_\t{head}\tdep\t_\t_\n"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (row(1, "a", 0) + row(2, "x", 1), "2: word 2 is 'x', but line 1 of the text has 'b'"),
        (row(1, "a", 0) + "\n", "2: 1 word, but line 1 of the text has 2"),
        (row(1, "a", 0) + row(2, "b", 1) + "\n", "4: the file ends after 1 sentence; the text has 2"),
        (row(1, "a", 0) + row(3, "b", 1), "2: expected word 2, found '3'"),
        (row(1, "a", 2) + row(2, "b", 1), "1: the heads form a circle: the word is its own ancestor"),
        (row(1, "a", 0) + row(2, "b", 3), "2: head 3 in a sentence of 2 words"),
        (row(1, "a", "_"), "1: expected the number of a word as head, 0 for the root, found '_'"),
        ("# x\n1 a\n", "2: expected 10 columns between tabs, found 1"),
        (row(1, "a", 0).replace("X", ""), "1: an empty column; CoNLL-U writes _"),
        (row(1, "a", 0).replace("\n", "\r\n"), "1: carriage return (Windows line ends?)"),
    ],
)
def test_conllu(tmp_path: Path, content: str, what: str) -> None:
    assert message(tmp_path / "x", content.encode(), lambda path: Dependencies.read(path, TEXT)) == f"x:{what}"


def test_sentences_in_memory() -> None:
    with pytest.raises(InputError, match="sentence 2: the sentence contains a line end"):
        Text.of(["a", "b\nc"])
    with pytest.raises(InputError, match="sentence 1: not valid UTF-8"):
        Text.of(["\ud800"])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))

    stdin(gzip.compress(b"a b\n") + gzip.compress(b"c\n"))
    assert list(Text.read("-")) == [["a", "b"], ["c"]]
    stdin(b"")
    assert list(read_pieces("-")) == []
    stdin(b"a\nb\x00\n")
    with pytest.raises(InputError, match=r"^standard input:2: control character"):
        Text.read("-")


def test_sentence_numbers_out_of_range() -> None:
    trees = Trees.of(["", ""], TEXT)
    links = Links.of([[], []])
    for number in (-1, 2):
        for pieces in (TEXT.pieces, links.pieces, lambda chosen: trees.pieces(TEXT, chosen)):
            with pytest.raises(HyperbatonError, match=f"sentence {number} of 2"):
                list(pieces(np.array([number])))


def test_every_verb_has_cases() -> None:
    every = cases()
    commands = [case.command for case in every]
    assert len(every) == len({(case.command, *case.files.values()) for case in every}) >= 300
    for verb in verbs():
        assert any(command.startswith(f"{verb} ") for command in commands), verb


@pytest.mark.slow
def test_bad_inputs_of_commands(tmp_path: Path) -> None:
    """A seeded share, and a NUL for every reader of text: one line, the right status, nothing left over."""
    prepare(tmp_path)
    with_nul = [case for case in cases() if TEXT_FAULTS["nul"][0] in case.files.values()]
    assert len(with_nul) == len(TEXT_COMMANDS)
    fresh = [case for case in cases() if re.search(r"-o ''| /dev/zero| empty$|=empty ", case.command)]
    chosen = [*random.Random(1).sample(cases(), N_CASES), *with_nul, *fresh]
    faults = {case.command: fault for case in chosen if (fault := check(case, tmp_path))}
    assert faults == {}
