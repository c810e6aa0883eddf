"""The file formats are as documented: every key that --json prints, the version of artefacts, the fields of manifests."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from hyperbaton.base.signals import Signals
from hyperbaton.base.store import FORMAT, save
from hyperbaton.cli import Program, run_program
from hyperbaton.data import generate
from tests.docs.cells import DOCS


def documented_keys(verb: str) -> set[str]:
    """The keys that the page names for a verb."""
    page = (DOCS / "formats.md").read_text(encoding="utf-8").partition("## Results")[2]
    (row,) = re.findall(rf"^\| (?:`[a-z-]+`, )*`{verb}`(?:, `[a-z-]+`)* \| (.*) \|$", page, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row))


def test_manifests(tmp_path: Path) -> None:
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert f"| `format` | {FORMAT} |" in page
    save(tmp_path / "x", "thing", {})
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text(encoding="utf-8"))
    rows = page.partition("| key of `manifest.json` | value |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == set(manifest)


def test_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    generate(200, seed=1).write("c", 20, 20)
    text = ["c/train.source", "c/train.target", "c/train.links"]
    held_out = ["c/test.source", "c/test.target", "c/test.links"]
    commands = [
        ["extract", *text, "-o", "phrases"],
        ["train", "lexicalized", *text, "-o", "lr"],
        ["train", "linear_jump", *text, "-o", "jump"],
        ["evaluate", "lr", *held_out],
        ["evaluate", "jump", *held_out],
        ["explain", "lr", "--phrase", "de"],
        ["inspect", *text],
        ["lm", "c/train.target", "-o", "lm", "--order", "2", "--discount-fallback"],
        ["perplexity", "lm", "c/test.target"],
        ["preorder", "jump", "c/test.source", "--links", "c/test.links"],
        ["system", "-o", "system", "--phrases", "phrases", "--lm", "lm"],
        ["diagnose", "system", "c/test.source", "c/test.target"],
        ["export", "moses", "system", "model"],
        ["import", "moses", "model", "-o", "again"],
        ["evaluate-links", "c/test.links", "c/test.true.links"],
        ["clean", *text[:2], "-o", "cleaned"],
        ["lexicon", *text, "-o", "lexicon.tsv"],
        ["project", "markup", *text, "-o", "marked"],
        ["order", *text],
        ["filter", *text[:2], "-o", "filtered"],
        ["generate", "-o", "more", "--sentences", "10"],
        ["list", "models"],
        ["list", "orientations"],
    ]
    for command in commands:
        monkeypatch.setattr(sys, "argv", ["hyperbaton", *command, "--json"])
        with pytest.raises(SystemExit) as end:
            run_program(Program(), Signals())
        assert not end.value.code, command
        printed = json.loads(capsys.readouterr().out)
        keys = set(printed[0] if isinstance(printed, list) else printed)
        assert keys and keys <= documented_keys(command[0]), (command[0], keys - documented_keys(command[0]))
