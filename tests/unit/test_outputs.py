"""Outputs that cannot be written are reported before any work: none of the inputs of these commands exist."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError, InputError, OptionError
from hyperbaton.base.store import Artefact, save, verify
from hyperbaton.cli import Program
from hyperbaton.data import generate
from hyperbaton.decode import System

# Verb and arguments up to the output, the kind of artefact, and its model.
ARTEFACTS = {
    "train": (["dpr", "no.src", "no.tgt", "no.links", "-o"], "reordering-model", "dpr"),
    "extract": (["no.src", "no.tgt", "no.links", "-o"], "phrases", ""),
    "prune": (["no.phrases", "no.src", "no.tgt", "-o"], "phrases", ""),
    "lm": (["no.text", "-o"], "lm", ""),
    "align": (["no.src", "no.tgt", "--save-model"], "aligner", ""),
    "system": (["--phrases", "no.phrases", "-o"], "system", ""),
    "import": (["moses", "no.ini", "-o"], "system", ""),
    "tune": (["no.system", "no.src", "no.ref", "-o"], "system", ""),
}
FILES = {
    "align": ["no.src", "no.tgt", "-o"],
    "classes": ["no.text", "-o"],
    "lm": ["no.text", "--arpa"],
}
FOLDERS = {
    "extract": ["no.src", "no.tgt", "no.links", "--moses"],
    "generate": ["-o"],
    "export": ["moses", "no.system"],
}


def run(verb: str, *arguments: object) -> None:
    Program().main([verb, *map(str, arguments)], standalone_mode=False)


@pytest.mark.parametrize("verb", ARTEFACTS)
def test_artefacts(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, kind, model = ARTEFACTS[verb]
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("x", encoding="utf-8")
    for output, message in (
        ("file", "^file: a file with that name already exists"),
        ("folder", "^folder: the folder contains files that are not an artefact"),
        ("file/new", "^file/new: cannot be written: .*/file: Not a directory"),
    ):
        with pytest.raises(ArtefactError, match=message):
            run(verb, *arguments, output, "--force")

    save("other", "bitext", {"a": np.arange(3)})
    save("alike", kind, {"a": np.arange(3)}, details={"model": model} if model else {})
    new = f"{kind} artefact" + (f" of the model {model}" if model else "")
    article = "an" if kind in ("aligner", "lm") else "a"
    message = f"^other: would replace a bitext artefact with {article} {new}; use --force, or choose"
    with pytest.raises(ArtefactError, match=message):
        run(verb, *arguments, "other")
    # The work begins, and finds no input.
    for accepted in (["alike"], ["other", "--force"], ["new"], ["new/new"]):
        with pytest.raises((InputError, ArtefactError), match=r"no\.(src|text|phrases|ini|system)"):
            run(verb, *arguments, *accepted)
    assert not (tmp_path / "new").exists()


def test_another_model_or_a_damaged_artefact(tmp_path: Path) -> None:
    arguments, kind, _ = ARTEFACTS["train"]
    save(tmp_path / "mms", kind, {}, details={"model": "mms"})
    message = "would replace a reordering-model artefact of the model mms with a reordering-model artefact of the model dpr"
    with pytest.raises(ArtefactError, match=message):
        run("train", *arguments, tmp_path / "mms")
    (tmp_path / "mms" / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArtefactError, match="would replace a damaged artefact with"):
        run("train", *arguments, tmp_path / "mms")
    # One of an older format, which must be built again, may be replaced.
    old = {"format": 0, "kind": kind, "details": {"model": "dpr"}}
    (tmp_path / "mms" / "manifest.json").write_text(json.dumps(old), encoding="utf-8")
    with pytest.raises(InputError, match="no such file"):
        run("train", *arguments, tmp_path / "mms")


@pytest.mark.parametrize("verb", FILES)
def test_files(verb: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ArtefactError, match="a folder with that name already exists"):
        run(verb, *FILES[verb], tmp_path)
    with pytest.raises(ArtefactError, match=r"cannot be written: .*/file: Not a directory"):
        run(verb, *FILES[verb], tmp_path / "file" / "new")
    for accepted in (tmp_path / "file", tmp_path / "new", "/dev/null", "-"):
        with pytest.raises(InputError, match="no such file"):
            run(verb, *FILES[verb], accepted)


@pytest.mark.parametrize("verb", FOLDERS)
def test_folders_of_text(verb: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ArtefactError, match="file: a file with that name already exists"):
        run(verb, *FOLDERS[verb], tmp_path / "file")
    with pytest.raises(ArtefactError, match=r"cannot be written: .*/file: Not a directory"):
        run(verb, *FOLDERS[verb], tmp_path / "file" / "new")


def test_an_artefact_may_be_replaced_by_its_new_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    generate(60, seed=1).write(tmp_path, 5, 5)
    source, target = "train.source", "train.target"
    for name in (source, target):  # words that the system knows
        lines = Path(name).read_text(encoding="utf-8").splitlines(keepends=True)
        Path(name.replace("train", "known")).write_text("".join(lines[:5]), encoding="utf-8")
    run("align", source, target, "--save-model", "aligner", "-o", "links")
    run("extract", source, target, "train.links", "-o", "phrases")
    run("lm", target, "-o", "lm", "--order", 2, "--discount-fallback")
    before = {name: Artefact(name).digest() for name in ("aligner", "phrases", "lm")}
    run("align", source, target, "--prior", "aligner", "--save-model", "aligner", "-o", "links")
    run("prune", "phrases", source, target, "-o", "phrases", "--top", 2)
    run("lm", "lm", "-o", "lm", "--quantize", 4)
    assert all(Artefact(name, content=True).digest() != digest for name, digest in before.items())
    # Weights that prefer improbable translations can be improved.
    run("system", "--phrases", "phrases", "--lm", "lm", "-o", "system", "--copy", "--weight", "LM0=-0.5")
    weights = System.load("system").weights
    run("tune", "system", "known.source", "known.target", "-o", "system", "--iterations", 4)
    verify("system")
    assert System.load("system").weights != weights
    # The parts that a system refers to are inputs, too.
    run("system", "--phrases", "phrases", "--lm", "lm", "-o", "referring")
    with pytest.raises(OptionError, match=r"--output would write to .*/phrases, which is also an input"):
        run("tune", "referring", "known.source", "known.target", "-o", "phrases", "--force")


def test_the_file_name_decides_the_format_of_a_language_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("a b\nb a\n", encoding="utf-8")
    how = ["--order", 1, "--discount-fallback"]
    run("lm", "text", "-o", "lm.arpa", *how)
    run("lm", "text", "--arpa", "other", *how)
    assert Path("lm.arpa").read_bytes() == Path("other").read_bytes()


def test_an_output_on_stdout_is_not_an_input(tmp_path: Path) -> None:
    """A shell that appends to an input has opened it already, but has not changed it."""
    text = tmp_path / "text"
    text.write_text("a b\n", encoding="utf-8")
    with text.open("ab") as stdout:
        command = [sys.executable, "-m", "hyperbaton", "classes", text]
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"would write to" in done.stderr and text.read_bytes() == b"a b\n"
