"""Artefacts appear whole or not at all, and say what is wrong with them."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Artefact, save, writing_file, writing_files, writing_folder

ARRAYS = {"a": np.arange(5, dtype=np.int32), "b.empty": np.zeros((0, 2), np.float32)}


def test_round_trip(tmp_path: Path) -> None:
    save(tmp_path / "x", "thing", ARRAYS, options={"k": 1}, seed=7, details={"note": "é"})
    artefact = Artefact(tmp_path / "x", "thing")
    assert isinstance(artefact["a"], np.memmap)
    for name, array in ARRAYS.items():
        assert np.array_equal(artefact[name], array)
    assert artefact.options == {"k": 1}
    assert artefact.details == {"note": "é"}
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_replaces_an_old_one(tmp_path: Path) -> None:
    for value in (1, 2):
        save(tmp_path / "x", "thing", {"a": np.full(3, value)})
    assert Artefact(tmp_path / "x")["a"].tolist() == [2, 2, 2]
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_a_failure_leaves_the_old_one(tmp_path: Path) -> None:
    save(tmp_path / "x", "thing", {"a": np.zeros(3)})
    with pytest.raises(KeyboardInterrupt), writing_folder(tmp_path / "x") as folder:
        (folder / "half").write_text("half")
        raise KeyboardInterrupt
    assert Artefact(tmp_path / "x")["a"].tolist() == [0, 0, 0]
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_a_write_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    """The system's reason is told, not how many bytes were written; folders that were made for it are gone."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(ArtefactError, match=r"x: cannot be written: File too large$"):
            save(tmp_path / "x", "t", {"a": np.zeros(1000)})
        names = [tmp_path / "new" / "deep" / name for name in ("a", "b")]
        message = r"new/deep/a and 1 more: cannot be written: File too large$"
        with pytest.raises(ArtefactError, match=message), writing_files(names) as asides:
            for aside in asides:
                aside.write_bytes(bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_refuses_to_overwrite_what_is_no_artefact(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ArtefactError, match="is not an artefact"):
        save(tmp_path / "mine", "thing", ARRAYS)
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtefactError, match="a file of that name is in the way"):
        save(tmp_path / "file", "thing", ARRAYS)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: (d / "a.npy").unlink(), "a.npy: damaged or missing"),
        (lambda d: (d / "a.npy").write_bytes((d / "a.npy").read_bytes()[:-3]), "a.npy: damaged or missing"),
        (lambda d: np.save(d / "a.npy", np.arange(6)), r"a.npy: holds <i8 \[6\], the manifest says <i4 \[5\]"),
        (lambda d: (d / "manifest.json").write_text("{"), "manifest.json: damaged"),
        (lambda d: (d / "manifest.json").unlink(), "not an artefact of hyperbaton"),
        (lambda d: _edit(d, format=99), "this version reads format 1: build the artefact again"),
        (lambda d: _edit(d, kind="other"), "is a other artefact, not a thing one"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: object, message: str) -> None:
    save(tmp_path / "x", "thing", ARRAYS)
    damage(tmp_path / "x")  # type: ignore[operator]
    with pytest.raises(ArtefactError, match=message):
        Artefact(tmp_path / "x", "thing")["a"]


def _edit(folder: Path, **values: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, **values}))


def test_never_unpickles(tmp_path: Path) -> None:
    save(tmp_path / "x", "thing", ARRAYS)
    np.save(tmp_path / "x" / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ArtefactError, match=r"a\.npy: damaged"):
        Artefact(tmp_path / "x")["a"]


def test_files_appear_whole(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing_file(tmp_path / "f") as aside:
        aside.write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """SIGKILL while artefacts are written over and over: what is there loads, and is one of the versions."""
    program = textwrap.dedent("""
        import sys, numpy as np
        from hyperbaton.base.store import save
        k = 0
        while True:
            k += 1
            save(sys.argv[1], "thing", {"a": np.full(50_000, k), "b": np.full(50_000, k)})
    """)
    for delay in np.linspace(0.02, 0.25, 8):
        process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "x")])
        deadline = time.monotonic() + 30
        while not (tmp_path / "x").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(float(delay))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if (tmp_path / "x").exists():
            artefact = Artefact(tmp_path / "x", "thing")
            assert set(artefact["a"].tolist()) == set(artefact["b"].tolist())
            assert len(set(artefact["a"].tolist())) == 1
