"""Cleaning keeps what the rules say, says why it dropped the rest, and writes all files or none."""

from __future__ import annotations

import errno
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.errors import ArtefactError, InputError, OptionError
from hyperbaton.corpus import Bitext, files
from hyperbaton.corpus.clean import Cleaning, clean, clean_files
from hyperbaton.corpus.files import read_pieces, write_files, write_pieces
from hyperbaton.corpus.tokenizers import make_tokenizer
from tests.program import hyperbaton_bytes

lengths = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=8)


@given(lengths, st.integers(1, 3), st.integers(3, 7), st.sampled_from([1.0, 1.5, 2.0, 9.0]))
def test_rules(pairs: list[tuple[int, int]], least: int, most: int, ratio: float) -> None:
    bitext = Bitext.of(["x " * n for n, _ in pairs], ["y " * m for _, m in pairs])
    kept, report = clean(bitext, Cleaning(min_length=least, max_length=most, ratio=ratio))
    good = [
        s for s, (n, m) in enumerate(pairs) if least <= min(n, m) and max(n, m) <= most and max(n, m) / min(n, m) <= ratio
    ]
    assert kept.tolist() == good
    assert report.n_kept + sum(drop.n for drop in report.dropped.values()) == report.n_read == len(pairs)


def write(folder: Path, **files: bytes) -> list[Path]:
    paths = [folder / name.replace("_", ".") for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    return paths


def test_repair_drops_and_reports(tmp_path: Path) -> None:
    src, tgt, links = write(
        tmp_path,
        a_zh=b"\xef\xbb\xbfone\r\na\tb\nbad\xff\n\nx|||y\nlast",
        a_en=b"one\nA B\nC\nD\nE\n" + b"F " * 200 + b"\n",
        a_links=b"0\n1\n2\n3\n4\n5\n",
    )
    with pytest.raises(InputError, match=r"a.zh:1: byte order mark"):
        clean_files(src, tgt, tmp_path / "out")
    report = clean_files(src, tgt, tmp_path / "out", also=[links], repair=True, compression=".gz")
    assert report.to_json() == {
        "n_read": 6,
        "n_kept": 2,
        "dropped": {
            "source: not valid UTF-8": {"n": 1, "lines": [3]},
            "source: token contains '|||', the field separator of Moses files": {"n": 1, "lines": [5]},
            "source empty": {"n": 1, "lines": [4]},
            "target longer than 100": {"n": 1, "lines": [6]},
        },
        "warnings": [],
    }
    out = {path.name: b"".join(read_pieces(path)) for path in tmp_path.glob("out*")}
    assert out == {"out.zh.gz": b"one\na b\n", "out.en.gz": b"one\nA B\n", "out.links.gz": b"0\n1\n"}


def test_raw_text_is_tokenized(tmp_path: Path) -> None:
    src, tgt = write(tmp_path, a_fr=b"l'an|||\n\nx\x00\n", a_en=b"the year x y\nx\ny\n")
    report = clean_files(src, tgt, tmp_path / "out", source_tokenizer=make_tokenizer("sacremoses", "fr"), repair=True)
    assert list(report.dropped) == [
        "source: control character (tab, NUL or the like) where only spaces may separate tokens",
        "source empty",
    ]
    assert (tmp_path / "out.fr").read_text() == "l' an | | |\n"


def test_nothing_is_written_when_a_parallel_file_does_not_fit(tmp_path: Path) -> None:
    src, tgt, short, long = write(tmp_path, a_zh=b"1\n2\n", a_en=b"1\n2\n", a_x=b"1\n", a_y=b"1\n2\n3\n")
    with pytest.raises(InputError, match=r"a.x:2: the file ends after 1 line; the text has 2"):
        clean_files(src, tgt, tmp_path / "out", also=[short])
    with pytest.raises(InputError, match=r"a.y:3: more lines than the 2 of the text"):
        clean_files(src, tgt, tmp_path / "out", also=[long])
    with pytest.raises(OptionError, match=r"--output would write to .*a.zh, which is also an input"):
        clean_files(src, tgt, tmp_path / "a")
    with pytest.raises(OptionError, match=r"two of the files would be written as .*out.x"):
        clean_files(src, tgt, tmp_path / "out", also=[short, short])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.en", "a.x", "a.y", "a.zh"]


def test_a_ratio_that_drops_many_pairs_is_reported(tmp_path: Path) -> None:
    """Of 200 pairs 190 have ratio 1, 8 have 2.5 and 2 have 6; an empty one and an overlong one do not count."""
    sizes = [(4, 4)] * 190 + [(2, 5)] * 8 + [(1, 6)] * 2 + [(0, 3), (1, 300)]
    src, tgt = write(
        tmp_path,
        a_ja=b"".join(b"x " * n + b"\n" for n, _ in sizes),
        a_en=b"".join(b"y " * n + b"\n" for _, n in sizes),
    )
    done = hyperbaton_bytes("clean", src, tgt, "-o", tmp_path / "out")
    advice = "ratio 2 drops 5.0% of the pairs that are otherwise fine (10 of 200); ratio 2.5 would keep 99% of them"
    assert (done.returncode, done.stderr.decode()) == (0, f"warning: --{advice}\n")
    _, report = clean(Bitext.read(src, tgt, empty=True), Cleaning(ratio=2.5))
    assert report.n_kept == 198 and report.to_json()["warnings"] == []
    _, none = clean(Bitext.of([], []))
    assert none.warnings == []


def failing(error: BaseException) -> Iterator[bytes]:
    yield b"first half\n"
    raise error


@pytest.mark.parametrize("name", ["x", "x.gz", "x.xz", "x.zst"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))])
def test_interrupt_or_full_disk_leaves_the_old_files(tmp_path: Path, name: str, error: BaseException) -> None:
    (tmp_path / "old").write_bytes(b"old\n")
    outputs = {str(tmp_path / "old"): [b"new\n"], str(tmp_path / name): failing(error)}
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else ArtefactError
    with pytest.raises(expected) as caught:
        write_files(outputs)
    if expected is ArtefactError:
        assert "cannot be written: No space left on device" in str(caught.value)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("old", b"old\n")]


def test_failure_between_the_files_puts_the_old_ones_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old\n")
    (tmp_path / "c").mkdir()
    outputs = {str(tmp_path / name): [b"new\n"] for name in "abc"}
    with pytest.raises(ArtefactError, match="cannot be written"):
        write_files(outputs)
    assert (tmp_path / "a").read_bytes() == b"old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_devices_are_written_to_and_never_replaced() -> None:
    with pytest.raises(ArtefactError, match="/dev/full: cannot be written: No space left on device"):
        write_pieces("/dev/full", [b"x" * 100_000])
    assert Path("/dev/full").is_char_device()
    write_pieces("/dev/null", [b"x"])
    assert Path("/dev/null").is_char_device()


def test_verbs(tmp_path: Path) -> None:
    src, tgt, tags = write(tmp_path, a_zh=b"1\n2 2\n\n", a_en=b"1\n2\n3\n", a_zh_pos=b"A\nB B\n\n")
    done = hyperbaton_bytes("clean", src, tgt, "-o", tmp_path / "out", "--also", tags, "--ratio", 1, "--json")
    warning = "ratio 1 drops 50.0% of the pairs that are otherwise fine (1 of 2); ratio 2 would keep 99% of them"
    assert (done.returncode, done.stderr.decode()) == (0, f"warning: --{warning}\n")
    assert json.loads(done.stdout) == {
        "n_read": 3,
        "n_kept": 1,
        "dropped": {
            "source empty": {"n": 1, "lines": [3]},
            "one side more than 1 times as long": {"n": 1, "lines": [2]},
        },
        "warnings": [warning],
    }
    assert (tmp_path / "out.zh.pos").read_text() == "A\n"
    src.write_bytes(b"1\n\xff\n\n")
    done = hyperbaton_bytes("clean", src, tgt, "-o", tmp_path / "no")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"hyperbaton: error: {src}:2: not valid UTF-8\n"
    assert not list(tmp_path.glob("no*"))

    done = hyperbaton_bytes("tokenize", "none", text=b"a  b\n\nc")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a b\n\nc\n", b"")
    done = hyperbaton_bytes("tokenize", "none", "--tags", tmp_path / "t", text=b"a")
    assert (done.returncode, done.stderr) == (1, b"hyperbaton: error: the tokenizer none does not produce tags\n")


@pytest.mark.parametrize("isal", [True, False])
def test_gzip_files_do_not_depend_on_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isal: bool) -> None:
    """Written by isal or, where it is not installed, by zlib."""
    if isal:
        pytest.importorskip("isal")
    monkeypatch.setattr(files, "_HAS_ISAL", isal)
    monkeypatch.setattr(files, "CHUNK", 1000)
    pieces = [f"{n} ||| {n * n}\n".encode() for n in range(1000)]
    for threads in (1, 3):
        monkeypatch.setattr(files, "default_threads", lambda n=threads: n)
        write_pieces(tmp_path / f"{threads}.gz", pieces)
    one = (tmp_path / "1.gz").read_bytes()
    assert gzip.decompress(one) == b"".join(pieces) == b"".join(read_pieces(tmp_path / "1.gz"))
    assert one == (tmp_path / "3.gz").read_bytes() and one.count(b"\x1f\x8b") > 10
