"""Outputs are checked before the work that leads to them, so that hours of training do not end in a wrong name."""

from __future__ import annotations

import json
import os
import tempfile
from os import PathLike
from pathlib import Path

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import MANIFEST, check_folder

AnyPath = str | PathLike[str]


def check_artefact(path: AnyPath, kind: str, model: str = "", *, force: bool = False) -> None:
    """Check that an artefact can be written: nothing foreign is in the way, and nothing of another kind or model.

    `force` allows to replace an artefact of another kind or model.
    """
    _check_parent(path)
    check_folder(path)
    old = _stored(Path(path))
    if not force and old is not None and old != (kind, model):
        what, new = (f"{k} artefact" + (f" of the model {m}" if m else "") for k, m in (old, (kind, model)))
        raise ArtefactError(f"{path}: would replace a {what} with a {new}; use --force, or choose another name")


def check_text_folder(path: AnyPath) -> None:
    """Check that files can be written into a folder, which may exist."""
    if Path(path).exists() and not Path(path).is_dir():
        raise ArtefactError(f"{path}: a file with that name already exists")
    _check_parent(Path(path) / "file")


def check_file(path: AnyPath) -> None:
    """Check that a file can be written; `-` is stdout, and what is no ordinary file is left alone."""
    if os.fspath(path) == "-":
        return
    file = Path(os.path.realpath(path))
    if file.is_dir():
        raise ArtefactError(f"{path}: a folder with that name already exists")
    if file.is_file() or not file.exists():
        _check_parent(file)


def _check_parent(path: AnyPath) -> None:
    """Try to make something in the folder that `path` will be in, or in the last one on the way there that exists."""
    parent = next(folder for folder in Path(path).absolute().parents if folder.exists())
    try:
        with tempfile.TemporaryDirectory(dir=parent, prefix=".hyperbaton-"):
            pass
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be written: {parent}: {error.strerror or error}") from error


def _stored(path: Path) -> tuple[str, str] | None:
    """The kind and model of an artefact, of any format version; unknown if its manifest cannot be read."""
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        return str(manifest["kind"]), str(manifest["details"].get("model", ""))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "damaged", ""
