"""Artefacts that are replaced while they are read, that cannot be read, or that do not match their kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.base import store, writing
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.forms import within
from hyperbaton.base.store import (
    Arrays,
    Artefact,
    Kind,
    read_artefact,
    save,
    verify,
)
from tests.unit.test_store import ARRAYS


def test_an_artefact_that_is_replaced_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    save(tmp_path / "x", "thing", {"a": np.full(3, 0), "b": np.full(3, 0)})
    seen = []

    def read(artefact: Artefact) -> list[int]:
        seen.append(artefact["a"].tolist()[0])
        if len(seen) <= 2:
            save(tmp_path / "x", "thing", {"a": np.full(3, len(seen)), "b": np.full(3, len(seen))})
        return [*artefact["a"].tolist(), *artefact["b"].tolist()]

    assert read_artefact(tmp_path / "x", "thing", read) == [2] * 6
    assert seen == [0, 1, 2]


def test_an_artefact_that_is_replaced_all_the_time_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_ATTEMPTS", 4)
    save(tmp_path / "x", "thing", {"a": np.zeros(3)})
    n_read = 0

    def read(artefact: Artefact) -> None:
        nonlocal n_read
        n_read += 1
        save(tmp_path / "x", "thing", {"a": np.zeros(3)})
        artefact["a"]

    with pytest.raises(ArtefactError, match="x: was replaced while it was read; try again"):
        read_artefact(tmp_path / "x", "thing", read)
    assert n_read == 4


@pytest.mark.parametrize("can_exchange", [True, False])
@pytest.mark.parametrize("use", [Artefact, verify])
def test_opening_while_the_manifest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: Callable[[Path], object], can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(writing, "_renameat2", lambda: None)
    save(tmp_path / "x", "thing", {"a": np.zeros(3)})
    read_manifest, n_read = store._read_manifest, 0

    def replaced_before(path: Path, folder: int | None = None) -> dict[str, object]:
        nonlocal n_read
        n_read += 1
        if n_read == 1:
            save(tmp_path / "x", "thing", {"a": np.ones(3)})
        return read_manifest(path, folder)

    monkeypatch.setattr(store, "_read_manifest", replaced_before)
    use(tmp_path / "x")
    assert n_read == 2


def test_waits_for_a_folder_that_was_moved_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two steps of replacing a folder, where they cannot be one."""
    save(tmp_path / "x", "thing", {"a": np.zeros(3)})
    aside = tmp_path / "x.4000000-0123abcd.replaced"
    (tmp_path / "x").rename(aside)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        aside.rename(tmp_path / "x")

    monkeypatch.setattr(store.time, "sleep", pause)
    assert Artefact(tmp_path / "x").kind == "thing"
    assert len(pauses) == 1


@pytest.mark.parametrize("name", ["a.npy", "manifest.json"])
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "cannot be read: not an ordinary file"),
        (Path.mkdir, "cannot be read: Is a directory|cannot be read: not an ordinary file"),
        (lambda path: path.symlink_to(path.name), "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_only_ordinary_files_are_read(tmp_path: Path, name: str, make: Callable[[Path], None], reason: str) -> None:
    save(tmp_path / "x", "thing", ARRAYS)
    (tmp_path / "x" / name).unlink()
    make(tmp_path / "x" / name)
    with pytest.raises(ArtefactError, match=f"{name}: ({reason})"):
        verify(tmp_path / "x")


def test_an_unreadable_file_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "x", "thing", ARRAYS)
    artefact, real, refused = Artefact(tmp_path / "x"), os.open, ["a.npy"]

    def refusing(path: str | PathLike[str], flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if os.fspath(path).endswith(refused[-1]):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(ArtefactError, match=r"x/a\.npy: cannot be read: Permission denied"):
        artefact["a"]
    for name, place in (("manifest.json", "x/manifest.json"), ("x", "x")):
        refused.append(name)
        with pytest.raises(ArtefactError, match=f"{place}: cannot be read: Permission denied"):
            Artefact(tmp_path / "x")
    with pytest.raises(ArtefactError, match="nowhere: no such artefact"):
        Artefact(tmp_path / "nowhere")


THING = Kind(
    "thing",
    {"a": "i4 n", "b?": "f8 n 2", **within("part?", {"keys": "u8 n", "values": "f4|f8 n *"})},
    {"seed": int, "details": {"names": list[str]}},
)
A = np.arange(5, dtype=np.int32)


@pytest.mark.parametrize(
    ("arrays", "more", "message"),
    [
        ({}, {}, "no array 'a'"),
        ({"a": A.astype(np.uint32)}, {}, r"array 'a' is u4 \[5\], not i4 n"),
        ({"a": A.reshape(5, 1)}, {}, r"array 'a' is i4 \[5, 1\], not i4 n"),
        ({"a": A, "b": np.zeros((4, 2))}, {}, r"array 'b' is f8 \[4, 2\], not f8 n 2 with n=5"),
        ({"a": A, "part.keys": np.zeros(2, np.uint64)}, {}, r"no array 'part\.values'"),
        ({"a": A}, {"seed": None}, "'seed' is null, not a whole number"),
        ({"a": A, "more": A}, {}, "array 'more' is not declared"),
        ({"a": A}, {"details": {}}, r"no 'details\.names'"),
        ({"a": A}, {"details": {"names": ["x", 1]}}, r"'details\.names\.1' is a whole number, not text"),
    ],
)
def test_content_must_match_its_kind(tmp_path: Path, arrays: Arrays, more: dict[str, Any], message: str) -> None:
    """A mistake of the program when it is saved, and damage when it is read."""
    given = {"seed": 1, "details": {"names": []}} | more
    with pytest.raises(TypeError, match=f"not a valid thing artefact: {message}"):
        save(tmp_path / "x", THING, arrays, **given)
    assert not (tmp_path / "x").exists()
    save(tmp_path / "x", "thing", arrays, **given)
    with pytest.raises(ArtefactError, match=rf"x/manifest\.json: damaged \({message}\); build the artefact again"):
        Artefact(tmp_path / "x", THING)


def test_content_that_matches_its_kind_is_accepted(tmp_path: Path) -> None:
    arrays = {"a": A, "part.keys": np.zeros(2, np.uint64), "part.values": np.zeros((2, 7), np.float32)}
    save(tmp_path / "x", THING, arrays, seed=1, details={"names": ["x"]})
    artefact = Artefact(tmp_path / "x", THING)
    assert artefact.group("part")["values"].shape == (2, 7)
    with pytest.raises(ArtefactError, match=r"x/manifest\.json: lists no array 'part\.other'"):
        artefact.group("part")["other"]


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), AttributeError("x"), ValueError("x"), IndexError("x")])
def test_mistakes_of_the_program_are_not_damage(tmp_path: Path, error: Exception) -> None:
    save(tmp_path / "x", "thing", ARRAYS)

    def read(artefact: Artefact) -> None:
        raise error

    with pytest.raises(type(error)):
        read_artefact(tmp_path / "x", "thing", read)
