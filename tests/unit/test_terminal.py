"""At a terminal the program writes to stdout what it writes without one, and shows bars on stderr."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from hyperbaton.data import generate
from tests.clocks import PATIENCE

ROOT = Path(__file__).parents[2]

# Each uses files made by earlier ones. `< file` is stdin.
COMMANDS = """
clean raw.source raw.target -o train --json
align train.source train.target
align train.source train.target -o train.links --save-model aligner
symmetrize train.links train.links
evaluate-links train.links train.links
tokenize none < raw.source
tag test.source --tagger fugashi
classes train.target
inspect train.source train.target train.links --line 2 --json -o pair.svg
extract train.source train.target train.links --max-length 4 -o phrases
extract train.source train.target train.links --max-length 4 --moses model --reordering hier-mslr-bidirectional-fe
train lexicalized train.source train.target train.links -o msd
train linear_jump train.source train.target train.links -o jump --source-tags train.source.tags
evaluate msd test.source test.target test.links
explain msd --sentence zzz
lm train.target -o lm --order 3 --discount-fallback --json
lm train.target --arpa lm.arpa --order 3 --discount-fallback
perplexity lm test.target
preorder jump test.source --source-tags test.source.tags --tags tags --links test.links
show lm
verify lm phrases
system -o system --phrases phrases --lm lm --reordering LR=msd-bidirectional-fe
translate system < test.source
translate system test.source --nbest 3 --alignment
translate system test.source -o test.hyp --trace -
tune system dev.source dev.target -o tuned --iterations 4 --nbest 5 --weight LM0=-0.5
score test.hyp test.target --against test.hyp --samples 20 --metrics bleu,wer
diagnose system test.source test.target
export moses system exported --json
import moses exported -o imported
run small.toml -o small
status small
report small
generate -o generated --sentences 20 --json
list models
list learners
list metrics
list features
list orientations
"""
RUN = """
[corpus.generate]
sentences = 60
dev = 10
test = 10
[models.linear]
[translation.systems]
"""
Runs = dict[str, dict[str, "Done"]]
KINDS = ("none", "stderr", "quiet")  # without a terminal, at one, at one with -q
SAME = ("quiet", "report small")  # draws pictures for seconds
SECONDS = re.compile(r"\t\d+(\.\d+)?")  # what `status` has measured


def has_quiet(verb: str) -> bool:
    code = (ROOT / "src/hyperbaton/cli" / f"{verb.replace('-', '_')}.py").read_text(encoding="utf-8")
    return re.search(r"\bQuiet\b|: (Thread|Executor|Memory|ExecutorAndMemory)Options\b", code) is not None


class Done(NamedTuple):
    """What a command left: `talk` came on stderr, or on the terminal."""

    status: int
    stdout: str
    talk: str


def run(python: Path, line: str, folder: Path, kind: str) -> Done:
    """Run a command in a folder, with a terminal for some of its streams: stdout is a file unless all of them are."""
    words, _, text = line.partition(" < ")
    quiet = ["-q"] if kind == "quiet" else []
    ours, theirs = os.pipe() if kind == "none" else pty.openpty()
    with tempfile.TemporaryFile() as stdout, (folder / text if text else Path(os.devnull)).open("rb") as stdin:
        process = subprocess.Popen(
            [python, "-m", "hyperbaton", *words.split(), *quiet],
            stdin=stdin if text or kind == "none" else theirs,
            stdout=theirs if kind == "all" else stdout,
            stderr=theirs,
            cwd=folder,
        )
        os.close(theirs)
        talk = b"".join(iter(lambda: read(ours), b""))
        os.close(ours)
        status = process.wait(PATIENCE)
        stdout.seek(0)
        return Done(status, stdout.read().decode(), talk.decode("utf-8", "replace"))


def read(file: int) -> bytes:
    """Some bytes; none at the end, which is an error of a terminal."""
    try:
        return os.read(file, 1 << 16)
    except OSError:
        return b""


def run_all(python: Path, folder: Path) -> Runs:
    """What every command left, by kind and line."""
    runs: Runs = {kind: {} for kind in KINDS}
    for kind in KINDS:
        own = folder / kind
        generate(80, seed=6).write(own, 5, 8)
        for side in ("source", "target"):
            (own / f"raw.{side}").write_bytes((own / f"train.{side}").read_bytes())
        (own / "small.toml").write_text(RUN)
        for line in COMMANDS.strip().splitlines():
            if (kind, line) != SAME and (kind != "quiet" or has_quiet(line.split()[0])):
                runs[kind][line] = run(python, line, own, kind)
    return runs


@pytest.mark.parametrize("shown", ["Bars()", "live_line(lambda: 'at work')"])
def test_what_is_printed_while_bars_are_shown_stays_on_stdout(shown: str) -> None:
    code = f"""
import sys
from hyperbaton.base.progress import Bars, live_line
with {shown} as live:
    if isinstance(live, Bars):
        live.stage("at work")(1, 2)
    print("data")
    print("talk", file=sys.stderr)
"""
    master, terminal = pty.openpty()
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=terminal, check=False)
    os.close(terminal)
    seen = os.read(master, 1 << 16)
    os.close(master)
    assert done.stdout == b"data\n"
    assert b"at work" in seen and b"talk" in seen and b"data" not in seen


@pytest.mark.slow
def test_stdout_is_the_same_at_a_terminal(python: Path, tmp_path: Path) -> None:
    runs = run_all(python, tmp_path)
    readme = re.findall(r"^hyperbaton ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {line.split()[0] for line in runs["none"]} >= set(readme)
    for kind in KINDS:
        for line, done in runs[kind].items():
            assert done.status == 0, (kind, line, done.talk)
            assert SECONDS.sub("\t", done.stdout) == SECONDS.sub("\t", runs["none"][line].stdout), (kind, line)
    assert not any("\x1b" in done.talk for done in runs["none"].values())
    quiet = {line: done.talk for line, done in runs["quiet"].items()}
    assert quiet == dict.fromkeys(quiet, "")
    talk = {line.split()[0]: done.talk for line, done in runs["stderr"].items()}
    assert all("\x1b" in talk[verb] for verb in ("translate", "train", "extract", "tune", "run"))
    (summary,) = (done.talk for line, done in runs["stderr"].items() if "--arpa" in line)
    assert "3-grams" in summary.rpartition("\x1b[2K")[2]  # what is said at the end is not erased with the bars
    assert "left: " in talk["run"] and "started" not in talk["run"]
    assert len((tmp_path / "stderr" / "test.hyp").read_text(encoding="utf-8").splitlines()) == 8
    # Results on a terminal are not mixed with bars.
    for line in ("translate system < test.source", "tag test.source --tagger fugashi"):
        done = run(python, line, tmp_path / "none", "all")
        assert done.talk.replace("\r\n", "\n") == runs["none"][line].stdout != ""
