"""Outputs that cannot be written are told before any work: none of the inputs of these commands exist."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer

from hyperbaton.base.errors import ArtefactError, InputError
from hyperbaton.base.store import save
from hyperbaton.cli import build

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
    typer.main.get_command(build([verb])).main([verb, *map(str, arguments)], standalone_mode=False)


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
    with pytest.raises(
        ArtefactError, match=f"^other: would replace a bitext artefact with a {new}; use --force, or choose"
    ):
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
