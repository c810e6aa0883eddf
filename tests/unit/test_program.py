"""Behaviour of the whole program: exit statuses, JSON, version, completion, Ctrl-C while it starts."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from hyperbaton.align.normalization import read_words
from hyperbaton.base.errors import InputError
from hyperbaton.base.signals import Signals
from hyperbaton.cli import Program, run_program, verbs
from hyperbaton.cli._help import remark
from hyperbaton.data import generate
from hyperbaton.models import MODELS
from tests import program
from tests.clocks import PATIENCE

PROGRAM = [sys.executable, "-m", "hyperbaton"]
# Their stdout is a text already; or all they find is in a results.json.
WITHOUT_JSON = {"align", "symmetrize", "tag", "tokenize", "translate"} | {"demo", "report", "run", "serve"}


def hyperbaton(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process."""
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    generate(40, seed=1).write(folder)
    return folder


def files(corpus: Path) -> list[Path]:
    return [corpus / f"train.{ending}" for ending in ("source", "target", "links")]


def test_exit_statuses(corpus: Path, tmp_path: Path) -> None:
    assert hyperbaton("--version").stdout.startswith("hyperbaton 0.")
    assert program.hyperbaton("inspect", *files(corpus), "--json").returncode == 0

    (tmp_path / "links").write_text("0-0\n9999-0\n" + "\n" * 30)
    bad = hyperbaton("extract", *files(corpus)[:2], tmp_path / "links", "-o", tmp_path / "phrases")
    assert (bad.returncode, bad.stdout) == (1, "")
    (line,) = bad.stderr.splitlines()
    assert line.startswith(f"hyperbaton: error: {tmp_path / 'links'}:2: "), line
    missing = program.hyperbaton("align", tmp_path / "none", tmp_path / "none")
    assert (missing.returncode, missing.stdout) == (1, "")
    unknown = program.hyperbaton("train", "lexicalised", *files(corpus), "-o", tmp_path / "model")
    assert unknown.returncode == 1 and "did you mean lexicalized?" in unknown.stderr
    assert not (tmp_path / "phrases").exists() and not (tmp_path / "model").exists()

    for wrong in (
        ["no-such-verb"],
        ["extract"],
        ["list", "models", "--no-such-option"],
        ["inspect", *files(corpus), "--line", "0"],
    ):
        done = program.hyperbaton(*wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert "Traceback" not in done.stderr


def test_interrupted_while_it_starts() -> None:
    """Ctrl-C at any moment once the program listens: one line, status 130."""
    code = """
from hyperbaton.__main__ import Signals, main
listen = Signals.leave_at_once
Signals.leave_at_once = lambda signals: (listen(signals), print(flush=True))
main()
"""
    for delay in (0.02, 0.15, 0.3, 0.5):
        with subprocess.Popen(
            [sys.executable, "-c", code, "train", "linear", "-", "-", "-", "-o", "model"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in error, (delay, error)
        if process.returncode == 130:
            assert error == "hyperbaton: interrupted\n"
        else:  # it was done, or had found that these are no files, before the signal came
            assert process.returncode in (0, 1, 2), error


def test_interrupted_where_nothing_can_be_raised() -> None:
    """Ctrl-C while Python frees an object, as it does after an import, is not lost."""
    code = """
import os, signal, time, weakref
from hyperbaton.base.signals import Signals
signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent process may ignore it
Signals().interrupt()
watch = weakref.ref(freed := type("Freed", (), {})(), lambda _: os.kill(os.getpid(), signal.SIGINT))
try:
    del freed
    time.sleep(60)
except KeyboardInterrupt:
    print("heard")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("heard\n", "")


def test_every_verb_has_json() -> None:
    for verb in verbs():
        flags = [flag for parameter in Program().load(verb).params for flag in parameter.opts]
        assert ("--json" in flags) != (verb in WITHOUT_JSON), verb


def test_json_of_what_is_drawn_and_generated(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = json.loads(program.hyperbaton("inspect", *files(corpus), "--line", 2, "--json").stdout)
    n = len(pair["source"])
    assert sorted(pair["visit_order"]) == sorted({i for i, _ in pair["links"]})
    assert all(0 <= box["source"][0] < box["source"][1] <= n for box in pair["phrases"])
    monkeypatch.setenv("COLUMNS", "60")
    drawn = program.hyperbaton("inspect", *files(corpus), "--line", 2)
    assert drawn.returncode == 0 and drawn.stdout.count("■") == len(pair["links"]) + 1

    small = json.loads(program.hyperbaton("generate", "-o", tmp_path / "small", "--sentences", 30, "--json").stdout)
    assert small["sentences"] == {"train": 24, "dev": 3, "test": 3}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    def offered(line: str) -> list[str]:
        words = line.split(" ")
        asked = {"COMP_WORDS": line, "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1)}
        environment = {**os.environ, "_HYPERBATON_COMPLETE": f"{shell}_complete", **asked}
        return subprocess.run(PROGRAM, capture_output=True, text=True, env=environment).stdout.replace(",", "\n").split()

    verbs_offered = offered("hyperbaton eval")
    assert "evaluate-links" in verbs_offered and "translate" not in verbs_offered
    assert set(MODELS) <= set(offered("hyperbaton train "))
    assert "--distortion-limit" in offered("hyperbaton translate --dist")
    assert "cube" in offered("hyperbaton translate --search ")
    assert {"hmm", "neural"} <= set(offered("hyperbaton align --aligner "))
    assert "--kappa" in offered("hyperbaton train dpr --kap") and "--kappa" not in offered("hyperbaton train pair --kap")
    assert "models" in offered("hyperbaton list mod")
    assert "file" in offered("hyperbaton align nothing")
    source = subprocess.run(
        PROGRAM, capture_output=True, text=True, env={**os.environ, "_HYPERBATON_COMPLETE": f"{shell}_source"}
    )
    assert "hyperbaton" in source.stdout


def test_usage_errors_are_one_line() -> None:
    for words, message in (
        (["alig"], "unknown command 'alig' (did you mean align?); see 'hyperbaton --help'"),
        (["models"], "unknown command 'models'; use 'hyperbaton list models'"),
        (["list", "model"], "KIND must be one of aligners, features, "),
        (["--verbos"], "unknown option --verbos (did you mean --verbose?); see 'hyperbaton --help'"),
        (["translate"], "missing argument SYSTEM; see 'hyperbaton translate --help'"),
        (["train", "dpr", "a", "b", "c"], "missing option --output; see 'hyperbaton train --help'"),
        (["translate", "a", "b", "c"], "unexpected argument 'c'; see 'hyperbaton translate --help'"),
        (["translate", "a", "--stac", "3"], "unknown option --stac (did you mean --stack?)"),
        (["translate", "a", "--stack"], "--stack needs a value"),
        (["translate", "a", "--search", "beam"], "--search must be one of stack, cube, refine, not 'beam'"),
        (["translate", "a", "--raw=yes"], "--raw takes no value"),
    ):
        done = program.hyperbaton(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith(f"hyperbaton: error: {message}") and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("columns", [80, 60])
def test_help_cuts_nothing(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of every verb has its whole name in the help, and help texts are printed as they are written."""
    monkeypatch.setenv("COLUMNS", str(columns))
    for verb in verbs():
        command = Program().load(verb)
        text = command.get_help(click.Context(command, info_name=f"hyperbaton {verb}"))
        words = " ".join(text.split())
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.metavar or ""]
            for name in [*names, *parameter.secondary_opts]:
                shown = name in text or f"--[no-]{name.removeprefix('--no-').removeprefix('--')}" in text
                assert shown, (verb, name)
            assert remark(parameter) in words, parameter.name
        assert "<bool>" not in text and "[more]" not in text and "…]" not in text, verb
        for line in text.splitlines():
            # Examples are not wrapped, so that they can be copied; names too long to wrap stand alone.
            assert len(line) <= columns or re.match(r"  (.*\| )?hyperbaton ", line) or " " not in line.strip(), line


def test_numbers_that_no_program_takes() -> None:
    for wrong in (
        ["translate", "system", "--stack", "99999999999999999999"],
        ["translate", "system", "--distortion-limit", str(2**31)],
        ["translate", "system", "--nbest", str(2**63)],
        ["align", "a", "b", "--model1-iterations", "9" * 30],
        ["lm", "a", "-o", "b", "--memory", "inf"],
        ["train", "dpr", "a", "b", "c", "-o", "d", "--min-cluster", "9" * 30],
        ["run", "a.toml", "--memory", "nan"],
    ):
        done = program.hyperbaton(*wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert done.stderr.startswith(f"hyperbaton: error: {wrong[-2]} must be "), done.stderr


def test_values_of_another_type_are_refused() -> None:
    for words, message in (
        (["translate", "system", "--threads", "many"], "--threads must be a whole number, not 'many'"),
        (["translate", "system", "--threshold", "x"], "--threshold must be a number, not 'x'"),
        (["translate", "system", "--threads", "1" * 5000], f"must be a whole number, not '{'1' * 80}…'"),
        (["tokenize", "--help-me"], "unknown option --help-me"),
    ):
        done = program.hyperbaton(*words)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr, done.stderr


def test_closed_and_full_streams(corpus: Path, tmp_path: Path) -> None:
    def shell(line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", line.replace("hyperbaton", f"{sys.executable} -m hyperbaton")],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    error = "hyperbaton: error: standard"
    assert shell("hyperbaton classes - <&-") == (1, f"{error} input: cannot be read: Bad file descriptor\n")
    assert shell("hyperbaton list models >&-") == (1, f"{error} output: cannot be written: Bad file descriptor\n")
    assert shell("hyperbaton classes missing 2>&-") == (1, "")
    # Output that is written as it is made.
    closed = f"{error} output: cannot be written: Bad file descriptor\n"
    assert shell(f"hyperbaton align {files(corpus)[0]} {files(corpus)[1]} -q >&-") == (1, closed)
    full = f"{error} output: cannot be written: No space left on device (the disk is full)\n"
    links = corpus / "train.links"
    for line in ("hyperbaton list models > /dev/full", f"hyperbaton symmetrize {links} {links} -q > /dev/full"):
        assert shell(line) == (1, full)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("can't start new thread"), "the system cannot start more threads or processes; use fewer --threads"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "the system cannot start more threads"),
        (InputError("no such file", "two\nlines\x1b[31m"), r"two\nlines\x1b[31m: no such file"),
        (UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"), r"'a\udcff' cannot be written as utf-8"),
    ],
)
def test_failures_are_one_line(
    error: Exception, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(word: str) -> None:
        raise error

    monkeypatch.setattr(sys, "argv", ["hyperbaton", "fail"])
    with pytest.raises(SystemExit) as end:
        run_program(click.Command("failing", callback=fail, params=[click.Argument(["word"])]), Signals())
    said = capsys.readouterr().err
    assert end.value.code == 1 and said.startswith(f"hyperbaton: error: {message}") and said.count("\n") == 1


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    """Only names of files may have any bytes; what is printed is UTF-8 in every environment."""
    done = subprocess.run(
        [*map(os.fsencode, PROGRAM), b"system", b"--phrases", b"no", b"--reordering", b"a\xff=b", b"-o", b"new"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2 and rb"--reordering 'a\udcff=b': is not valid UTF-8" in done.stderr
    name = os.fsdecode("Wörter".encode() + b"\xff")
    Path(tmp_path, name).write_text("ä ö\nü\n", encoding="utf-8")
    Path(tmp_path, "links").write_text("0-0 1-1\n0-0\n", encoding="utf-8")
    shown = subprocess.run(
        [*PROGRAM, "inspect", name, name, "links"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (shown.returncode, shown.stderr) == (0, b"") and "ä" in shown.stdout.decode()


def test_a_name_with_a_line_break_is_shown_on_one_line(tmp_path: Path) -> None:
    done = program.hyperbaton("verify", "a\nb", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith(r"hyperbaton: a\nb: ") and done.stderr.count("\n") == 1
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["artefact", r"a\nb"]


def test_lists_of_words_may_have_windows_line_ends(tmp_path: Path) -> None:
    for name, end in (("lf", b"\n"), ("crlf", b"\r\n")):
        (tmp_path / name).write_bytes(end.join([b"a", b"b c", b""]))
    assert read_words(tmp_path / "lf") == read_words(tmp_path / "crlf") == {"a", "b", "c"}
