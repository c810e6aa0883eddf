"""The program as a user meets it: data on stdout, messages on stderr, one line for an error."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hyperbaton.cli import verbs
from hyperbaton.phrases import ExtractedPhrases
from tests.clocks import PATIENCE
from tests.program import hyperbaton_bytes, started

PROGRAM = [sys.executable, "-c", "from hyperbaton.__main__ import main; main()"]


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[Path]]:
    """Write source, target and links; None keeps the good text."""
    good = {"src": b"a b c\nd e\n", "tgt": b"x y z\nu v\n", "links": b"0-0 1-2 2-1\n0-0\n"}

    def write(**texts: bytes) -> list[Path]:
        paths = []
        for name, text in {**good, **texts}.items():
            paths.append(tmp_path / f"t.{name}")
            paths[-1].write_bytes(text)
        return paths

    return write


def test_extract(files: Callable[..., list[Path]], tmp_path: Path) -> None:
    done = hyperbaton_bytes("extract", *files(), "-o", tmp_path / "phrases", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    extracted = ExtractedPhrases.load(tmp_path / "phrases")
    assert summary["samples"] == len(extracted.orientations) > 0
    assert extracted.table.options_of("b") == [("z", [1.0, 1.0, 1.0, 1.0])]


def test_extract_compressed_alike(files: Callable[..., list[Path]], tmp_path: Path) -> None:
    plain = files()
    packed = []
    for path in plain:
        packed.append(path.with_name(path.name + ".gz"))
        packed[-1].write_bytes(gzip.compress(path.read_bytes()))
    for paths, folder in ((plain, "a"), (packed, "b")):
        assert (
            hyperbaton_bytes(
                "extract", *paths, "--moses", tmp_path / folder, "--reordering", "hier-mslr-bidirectional-fe"
            ).returncode
            == 0
        )
    for name in ("phrase-table.gz", "reordering-table.hier-mslr-bidirectional-fe.gz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"tgt": b"x y z\n"}, "t.tgt:2: the file ends after 1 line; "),
        ({"src": b"a b c\n\n"}, "t.src:2: the line is empty"),
        (
            {"links": b"0-0 1-2 3-1\n0-0\n"},
            "t.links:1: link '3-1' is out of range: the source sentence has positions 0 to 2",
        ),
        ({"links": b"0-0\n0-2\n"}, "t.links:2: link '0-2' is out of range: the target sentence has positions 0 to 1"),
        ({"links": b"0-0\n"}, "t.links:2: the file ends after 1 line; the text has 2 sentence pairs"),
        ({"links": b"0-0\n\n\n"}, "t.links:3: more lines than the 2 sentence pairs"),
        ({"links": b"0-0\n0:1\n"}, "t.links:2: expected links like 0-0, found '0:1'"),
        ({"links": b"0-0\n-1-0\n"}, "t.links:2: expected links like 0-0, found '-1-0'"),
        ({"src": b"a b c\nd x|||y\n"}, "t.src:2: token contains '|||'"),
        ({"src": b"a b c\nd\te\n"}, "t.src:2: control character"),
        ({"tgt": b"x y z\nu\0v v\n"}, "t.tgt:2: control character"),
        ({"tgt": b"x y z\n\xff v\n"}, "t.tgt:2: not valid UTF-8"),
        ({"tgt": b"x y z\r\nu v\r\n"}, "t.tgt:1: carriage return"),
        ({"src": b"\xef\xbb\xbfa b c\nd e\n"}, "t.src:1: byte order mark"),
        ({"src": gzip.compress(b"a b c\nd e\n" * 9999)[:-20]}, "t.src:"),
    ],
)
def test_bad_input_is_one_line(
    files: Callable[..., list[Path]], tmp_path: Path, texts: dict[str, bytes], message: str
) -> None:
    done = hyperbaton_bytes("extract", *files(**texts), "-o", tmp_path / "phrases")
    assert done.returncode == 1
    assert done.stdout == b""
    error = done.stderr.decode()
    assert message in error
    assert error.count("\n") == 1, error
    assert not list(tmp_path.glob("phrases*"))


def test_wrong_usage_is_status_two_and_a_wrong_name_one(files: Callable[..., list[Path]], tmp_path: Path) -> None:
    assert hyperbaton_bytes("extract", "only-one").returncode == 2
    done = hyperbaton_bytes("extract", *files(), "--moses", tmp_path / "m", "--reordering", "wbe-mdd-forward-fe")
    assert done.returncode == 1
    assert b"unknown part 'mdd'" in done.stderr
    done = hyperbaton_bytes("extract", tmp_path / "missing", *files()[1:], "-o", tmp_path / "x")
    assert (done.returncode, done.stderr.decode()) == (1, f"hyperbaton: error: {tmp_path / 'missing'}: no such file\n")


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_explains_itself(verb: str) -> None:
    done = hyperbaton_bytes(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert b"xample" in done.stdout


def test_version() -> None:
    assert hyperbaton_bytes("--version").stdout.startswith(b"hyperbaton ")


def test_inspect_draws(files: Callable[..., list[Path]], tmp_path: Path) -> None:
    for name in ("pair.svg", "pair.png"):
        done = hyperbaton_bytes("inspect", *files(), "--line", 1, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    assert b"<svg" in (tmp_path / "pair.svg").read_bytes()
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    assert hyperbaton_bytes("inspect", *files(), "--line", 9, "-o", tmp_path / "no.svg").returncode == 1
    assert not (tmp_path / "no.svg").exists()


@pytest.mark.slow
def test_interrupt_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C in the middle: one word, status 130, no artefact."""
    n = 60_000
    for name, line in (("src", "a b c d e f g h\n"), ("tgt", "x y z u v w s t\n"), ("links", "0-1 1-0 2-3 3-2 5-5\n")):
        (tmp_path / name).write_text(line * n)
    arguments = [
        "-v",
        "extract",
        *(str(tmp_path / name) for name in ("src", "tgt", "links")),
        "-o",
        str(tmp_path / "phrases"),
    ]
    for n_remarks in (1, 2, 3):  # reading, extracting, writing
        command = [*PROGRAM, *arguments]
        with started(command, stderr=subprocess.PIPE, preexec_fn=_listen_to_interrupts) as process:
            for _ in range(n_remarks):
                assert process.stderr.readline().startswith(b"hyperbaton: ")
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, error
        assert error.endswith(b"hyperbaton: interrupted\n")
        assert not list(tmp_path.glob("phrases*"))


def _listen_to_interrupts() -> None:
    """The test runner may ignore these signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
