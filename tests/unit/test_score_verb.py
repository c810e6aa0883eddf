"""The verb `score`, as a user types it."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hyperbaton.__main__ import main
from hyperbaton.metrics import holm


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


@pytest.fixture
def hyperbaton(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The program, in this process: starting another for every message would take longer than all else."""

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["hyperbaton", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return Done(left.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ref").write_text("the cat sat on the mat\nhe goes home\na b c d\n")
    (tmp_path / "hyp").write_text("the cat sat on a mat\nhome he goes\na b c d\n")
    (tmp_path / "other").write_text("a cat is on the mat\nhe goes house\na c b d\n")
    (tmp_path / "links").write_text("0-0 1-1\n0-1 1-2 2-0\n\n")
    (tmp_path / "ref.links").write_text("0-0 1-1\n0-0 1-1 2-2\n0-0\n")
    return tmp_path


def test_json_has_value_interval_delta_and_p(hyperbaton: Callable[..., Done], files: Path) -> None:
    done = hyperbaton(
        "score", files / "hyp", files / "ref", "--against", files / "other", "--metrics", "bleu,WER,pdscore",
        "--source-links", files / "links", "--reference-links", files / "ref.links", "--against-links", files / "ref.links",
        "--json", "--seed", "3", "--samples", "100",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    scores = json.loads(done.stdout)
    assert list(scores) == ["BLEU", "WER", "PDscore"]
    assert scores["WER"]["value"] == pytest.approx(100 * 3 / 13)
    assert scores["WER"]["delta"] == pytest.approx(100 * (3 - 5) / 13)
    # Steps: both of the first line; 0-1 of the second, not the first step to 0, nor 1-2; none of the third.
    assert scores["PDscore"]["value"] == pytest.approx(100 * 3 / 6)
    for entry in scores.values():
        assert entry["interval"][0] <= entry["value"] <= entry["interval"][1] and 0 < entry["p"] <= 1
    assert scores["BLEU"]["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_table_of_all_metrics_and_several_runs(hyperbaton: Callable[..., Done], files: Path) -> None:
    (files / "ref.gz").write_bytes(gzip.compress((files / "ref").read_bytes()))
    done = hyperbaton(
        "score", files / "hyp", files / "ref.gz", files / "other", "--run", files / "other", "--samples", "10"
    )
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert header == ["metric", "value", "interval", "deviation", "length", "signature"]
    assert {row[0] for row in rows} == {"BLEU", "chrF", "METEOR", "NIST", "RIBES", "TER", "WER"}
    listed = hyperbaton("list", "metrics", "--json")
    assert {"bleu", "pdscore", "lrscore"} <= {row["name"] for row in json.loads(listed.stdout)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hyp", "short"], "short:3: the file ends after 2 lines, but {0}/hyp has 3; every sentence needs a line"),
        (["hyp", "nowhere"], "nowhere: no such file"),
        (["hyp", "empty"], "empty: the file has no lines"),
        (["hyp", "latin"], "latin:2: not valid UTF-8"),
        (["hyp", "ref", "--metrics", "blue"], "unknown metric 'blue'"),
        (["hyp", "ref", "--metrics", "pdscore"], "PDscore needs the links"),
        (["hyp", "ref", "--source-links", "links"], "links of both"),
        (["hyp", "ref", "--source-links", "far", "--reference-links", "ref.links"], "far:2: link '0-9' is out of range"),
        (["hyp", "ref", "--source-links", "short", "--reference-links", "ref.links"], "short:1: expected links like 0-0"),
        (["hyp", "ref", "--against", "other", "--test", "t"], "--test must be one of bootstrap, randomization, not 't'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(
    hyperbaton: Callable[..., Done], files: Path, arguments: list[str], message: str
) -> None:
    (files / "short").write_text("a\nb\n")
    (files / "empty").write_text("")
    (files / "latin").write_bytes(b"a\n\xe9\nb\n")
    (files / "far").write_text("0-0\n0-9\n\n")
    paths = [files / a if (files / a).exists() or a == "nowhere" else a for a in arguments]
    done = hyperbaton("score", *paths)
    assert done.returncode == (2 if "--test" in arguments else 1) and done.stdout == ""
    assert message.format(files) in done.stderr and len(done.stderr.splitlines()) == 1


def test_several_references_are_reported(hyperbaton: Callable[..., Done], files: Path) -> None:
    command = ["score", files / "hyp", files / "ref", files / "other", "--metrics", "wer", "--samples", "10"]
    note = f"scoring {files / 'hyp'} against 2 references: {files / 'ref'}, {files / 'other'}; another system's"
    assert hyperbaton(*command).stderr.startswith(note)
    assert hyperbaton(*command, "--quiet").stderr == hyperbaton(*command[:3], *command[4:]).stderr == ""


def test_several_systems_are_compared_with_the_first(hyperbaton: Callable[..., Done], files: Path) -> None:
    command = ["score", "--samples", "50", "--metrics", "wer,chrf", files / "hyp", files / "ref", "--systems"]
    both = f"{files / 'hyp'},{files / 'other'}"
    done = hyperbaton(*command, files / "other", both, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    for entry in json.loads(done.stdout).values():
        other, runs = entry["systems"][str(files / "other")], entry["systems"][both]
        assert other["delta"] == pytest.approx(other["value"] - entry["value"])
        assert runs["runs"] == 2 and runs["value"] == pytest.approx((other["value"] + entry["value"]) / 2)
        p = [other["p"], runs["p"]]
        assert [other["p_holm"], runs["p_holm"]] == pytest.approx(holm(p))
    against = hyperbaton("score", files / "other", files / "ref", "--against", files / "hyp", "--json", "--samples", "50")
    assert json.loads(against.stdout)["WER"]["p"] == json.loads(done.stdout)["WER"]["systems"][str(files / "other")]["p"]
    table = hyperbaton(*command, files / "other", both)
    header, *rows = [line.split("\t") for line in table.stdout.splitlines()]
    assert header[:4] == ["metric", "system", "value", "interval"] and "p_holm" in header and len(rows) == 6
    assert [row[1] for row in rows[:3]] == [str(files / "hyp"), str(files / "other"), both]
    wrong = hyperbaton(*command, files / "other", "--against", files / "other")
    assert wrong.returncode == 1 and "do not give --against" in wrong.stderr


def test_the_length_ratio_is_shown_and_warned_about(hyperbaton: Callable[..., Done], files: Path) -> None:
    (files / "short").write_text("a cat sat\nhe goes\na b c d\n")
    done = hyperbaton("score", files / "short", files / "ref", "--metrics", "bleu", "--samples", "10")
    assert [row.split("\t")[3] for row in done.stdout.splitlines()] == ["length", "0.692"]
    remark = "the translations have 0.69 words for each word of the references, which changes BLEU and TER by itself"
    assert done.stderr == f"warning: {remark}\n"
    done = hyperbaton("score", files / "hyp", files / "ref", "--systems", files / "short", "--metrics", "bleu", "--json")
    assert done.stderr == f"warning: {files / 'short'}: {remark}\n"
    bleu = json.loads(done.stdout)["BLEU"]
    assert (bleu["length"], bleu["systems"][str(files / "short")]["length"]) == (1.0, pytest.approx(9 / 13))
