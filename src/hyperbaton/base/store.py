"""Artefacts: what is learned or prepared is a folder of named arrays with a manifest.

    phrases/
        manifest.json              format, kind, options, inputs, seed, package version, every array's type and shape
        samples.distance.npy       one array per file, memory-mapped on load

A folder is written as `NAME.incomplete`, fsynced, and renamed: a reader sees the old artefact or the new one, never
half of one. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import ArtefactError

FORMAT = 1
MANIFEST = "manifest.json"

Arrays = Mapping[str, npt.NDArray[Any]]
T = TypeVar("T")


def check_folder(path: str | PathLike[str]) -> None:
    """Check that there is nothing at `path` but an artefact or an empty folder."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise ArtefactError(f"{path}: a file of that name is in the way")
    if path.exists() and any(path.iterdir()) and not (path / MANIFEST).exists():
        raise ArtefactError(f"{path}: the folder holds something that is not an artefact; choose another name")


@contextlib.contextmanager
def writing_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a folder to write into, and put it in place of `path` when the block ends without an error."""
    path = Path(path)
    check_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside, old = _beside(path, "incomplete"), _beside(path, "replaced")
    try:
        for stale in (aside, old):
            shutil.rmtree(stale, ignore_errors=True)
        aside.mkdir()
        yield aside
        for file in aside.rglob("*"):
            fsync(file)
        fsync(aside)
        if path.exists():
            # A folder cannot replace a full one in one step: put the old one aside first, and back on failure.
            path.rename(old)
            try:
                aside.rename(path)
            except BaseException:
                old.rename(path)
                raise
            shutil.rmtree(old, ignore_errors=True)
        else:
            aside.rename(path)
        fsync(path.parent)
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def writing_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a file name to write to, and put that file in place of `path` when the block ends without an error."""
    with writing_files([path]) as (aside,):
        yield aside


@contextlib.contextmanager
def writing_files(paths: Sequence[str | PathLike[str]]) -> Iterator[list[Path]]:
    """The same for several files that belong together: all of them appear, or none.

    What is no ordinary file (a device, a pipe) is written to directly.
    """
    finals = [Path(os.path.realpath(path)) for path in paths]
    if len(set(finals)) != len(finals):
        raise ArtefactError(f"{paths[-1]}: the same file would be written twice")
    asides = [path if _is_special(path) else _beside(path, "incomplete") for path in finals]
    moves = [(aside, path) for aside, path in zip(asides, finals, strict=True) if aside != path]
    made: list[Path] = []  # folders, the outer ones first
    try:
        for _, path in moves:
            missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            made.extend(reversed(missing))
            path.parent.mkdir(parents=True, exist_ok=True)
        yield asides
        for aside, _ in moves:
            fsync(aside)
        _move_all(moves)
        for folder in {path.parent for _, path in moves}:
            fsync(folder)
    except OSError as error:
        names = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        raise ArtefactError(f"{names}: cannot be written: {error.strerror or error}") from error
    finally:
        for aside, _ in moves:
            with contextlib.suppress(OSError):
                aside.unlink()
        for folder in reversed(made):  # those that nothing came to stand in
            with contextlib.suppress(OSError):
                folder.rmdir()


def _move_all(moves: Sequence[tuple[Path, Path]]) -> None:
    """Move every file to its place; when one cannot be moved, put back what the others replaced."""
    if len(moves) == 1:
        aside, path = moves[0]
        aside.replace(path)
        return
    done: list[tuple[Path, Path | None]] = []
    try:
        for aside, path in moves:
            old = None
            if path.exists():
                old = _beside(path, "replaced")
                old.unlink(missing_ok=True)
                old.hardlink_to(path)
            done.append((path, old))
            aside.replace(path)
    except BaseException:
        for (aside, _), (path, old) in zip(moves, done, strict=False):
            if old is not None:
                old.replace(path)
            elif not aside.exists():
                path.unlink(missing_ok=True)
        raise
    for _, old in done:
        if old is not None:
            old.unlink(missing_ok=True)


def save(
    path: str | PathLike[str],
    kind: str,
    arrays: Arrays,
    *,
    options: Mapping[str, Any] | None = None,
    inputs: Mapping[str, str] | None = None,
    seed: int | None = None,
    details: Mapping[str, Any] | None = None,
    parts: Mapping[str, Callable[[Path], None]] | None = None,
) -> None:
    """Write an artefact, all or nothing.

    Arguments:
        kind: what it is, checked on load.
        options: the options it was made with; inputs: name → hash of what it was made from.
        details: anything else that JSON can hold.
        parts: artefacts inside this one: name of the folder → what writes it.
    """
    with writing_folder(path) as folder:
        listing = {}
        for name, array in arrays.items():
            array = np.ascontiguousarray(array)
            with (folder / f"{name}.npy").open("wb") as file:
                _write_array(file, array)
            listing[name] = {"dtype": array.dtype.str, "shape": list(array.shape)}
        for name, write in (parts or {}).items():
            write(folder / name)
        manifest = {
            "format": FORMAT,
            "kind": kind,
            "version": version("hyperbaton"),
            "options": dict(options or {}),
            "inputs": dict(inputs or {}),
            "seed": seed,
            "details": dict(details or {}),
            "arrays": listing,
        }
        text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _write_array(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write a .npy file as numpy does, whose own function does not say why a write failed."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, header)
    file.write(array.view(np.uint8).data if array.size and array.ndim else array.tobytes())


class Artefact:
    """An artefact opened for reading; its arrays are memory-mapped when asked for."""

    def __init__(self, path: str | PathLike[str], kind: str | None = None) -> None:
        self.path = Path(path)
        self.manifest = _read_manifest(self.path)
        if kind is not None and self.manifest["kind"] != kind:
            raise ArtefactError(f"{self.path}: is a {self.manifest['kind']} artefact, not a {kind} one")

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])

    @property
    def details(self) -> dict[str, Any]:
        return dict(self.manifest["details"])

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.manifest["options"])

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["arrays"]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self:
            raise ArtefactError(f"{self.path / MANIFEST}: lists no array {name!r}")
        expected = self.manifest["arrays"][name]
        file = self.path / f"{name}.npy"
        try:
            # An empty file cannot be mapped.
            mode: Literal["r"] | None = "r" if all(expected["shape"]) else None
            array: npt.NDArray[Any] = np.load(file, mmap_mode=mode, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise ArtefactError(f"{file}: damaged or missing ({error}); build the artefact again") from error
        if array.dtype.str != expected["dtype"] or list(array.shape) != expected["shape"]:
            found = f"{array.dtype.str} {list(array.shape)}"
            raise ArtefactError(f"{file}: holds {found}, the manifest says {expected['dtype']} {expected['shape']}")
        return array

    def digest(self, prefix: str = "") -> str:
        """A hash of what the manifest says of the artefact's content, or of the arrays that start with `prefix.`.

        What says how it was made (the version, how long it took) does not count.
        """
        entries = self.manifest["arrays"]
        if prefix:
            entries = {name: entry for name, entry in entries.items() if f"{name}.".startswith(f"{prefix}.")}
        content = [entries, self.manifest.get("inputs")]
        if not prefix:
            content += [self.kind, self.options, self.details.get("model"), self.details.get("checksums")]
        return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()

    def group(self, prefix: str) -> dict[str, npt.NDArray[Any]]:
        """The arrays whose names start with `prefix.`, by the rest of the name; no others are opened."""
        return {rest: self[f"{prefix}.{rest}"] for rest in group(self.manifest["arrays"], prefix)}


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    if not path.exists():
        raise ArtefactError(f"{path}: no such artefact")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        known = manifest["format"], manifest["kind"], manifest["arrays"], manifest["details"], manifest["options"]
    except FileNotFoundError as error:
        raise ArtefactError(f"{path}: not an artefact of hyperbaton (no {MANIFEST})") from error
    except NotADirectoryError as error:
        raise ArtefactError(f"{path}: not an artefact of hyperbaton (a file, not a folder)") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArtefactError(f"{file}: damaged ({error}); build the artefact again") from error
    if known[0] != FORMAT:
        made = f"hyperbaton {manifest.get('version', '?')}, format {known[0]}"
        raise ArtefactError(f"{path}: made by {made}; this version reads format {FORMAT}: build the artefact again")
    return dict(manifest)


def group(items: Mapping[str, T], prefix: str) -> dict[str, T]:
    """The items whose names start with `prefix.`, by the rest of the name.

    >>> group({"source.tokens": 1, "source.vocabulary.bytes": 2, "target.tokens": 3}, "source")
    {'tokens': 1, 'vocabulary.bytes': 2}
    """
    return {name[len(prefix) + 1 :]: item for name, item in items.items() if name.startswith(f"{prefix}.")}


def hash_arrays(arrays: Arrays) -> str:
    """A hash of the content of named arrays, for manifests."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _beside(path: Path, mark: str) -> Path:
    return path.with_name(f"{path.name}.{mark}")


def fsync(path: Path) -> None:
    """Have the system write a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
