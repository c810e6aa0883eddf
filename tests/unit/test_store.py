"""Artefacts appear whole or not at all, and say what is wrong with them."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import (
    Artefact,
    audit,
    manifest_checksum,
    save,
    verify,
)
from hyperbaton.base.writing import writing_file, writing_files, writing_folder
from tests.clocks import PATIENCE, wait_for
from tests.program import started

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
    """The message gives the system's reason, not the number of bytes written; folders created for it are removed."""
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


def test_refuses_to_overwrite_other_folders(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ArtefactError, match="files that are not an artefact"):
        save(tmp_path / "mine", "thing", ARRAYS)
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtefactError, match="a file with that name already exists"):
        save(tmp_path / "file", "thing", ARRAYS)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: (d / "a.npy").unlink(), "a.npy: does not exist; build the artefact again"),
        (
            lambda d: (d / "a.npy").write_bytes((d / "a.npy").read_bytes()[:-3]),
            r"a.npy: damaged: has 145 bytes instead of 148",
        ),
        (lambda d: (d / "a.npy").write_bytes((d / "a.npy").read_bytes() + b"x"), r"a.npy: damaged: has 149 bytes"),
        (lambda d: (d / "a.npy").write_bytes(b"\x93NUMPY\x01\x00"), r"a.npy: damaged \(not an array file"),
        (lambda d: np.save(d / "a.npy", np.arange(6)), r"a.npy: damaged: holds .*'<i8'.*, the manifest says <i4 \[5\]"),
        (lambda d: (d / "manifest.json").write_text("{"), "manifest.json: damaged"),
        (lambda d: (d / "manifest.json").write_text("[" * 100_000), "manifest.json: damaged"),
        (lambda d: (d / "manifest.json").write_text("null"), "manifest.json: damaged"),
        (lambda d: (d / "manifest.json").unlink(), "not an artefact of hyperbaton"),
        (lambda d: _edit(d, format=99), "this version reads format 4: build the artefact again"),
        (lambda d: _edit(d, kind="other"), "is an other artefact, not a thing one"),
        (lambda d: _edit(d, sound=False, kind="other"), r"manifest.json: damaged \(its checksum differs"),
        (lambda d: _edit(d, arrays=None), "'arrays' is null, not an object"),
        (lambda d: _edit(d, arrays={"a": {"dtype": "<i4", "shape": [2**61], "checksum": ""}}), "array 'a': no shape"),
        (lambda d: _edit(d, arrays={"a": {"dtype": "|O", "shape": [5], "checksum": ""}}), "array 'a': no type"),
        (lambda d: _edit(d, parts={"../a": {"checksum": ""}}), "a part cannot be called"),
        (lambda d: _edit(d, details=[1]), "'details' is a list, not an object"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: object, message: str) -> None:
    save(tmp_path / "x", "thing", ARRAYS)
    damage(tmp_path / "x")  # type: ignore[operator]
    with pytest.raises(ArtefactError, match=message) as raised:
        Artefact(tmp_path / "x", "thing")["a"]
    assert "\n" not in str(raised.value)


def _edit(folder: Path, sound: bool = True, **values: object) -> None:
    manifest = {**json.loads((folder / "manifest.json").read_text()), **values}
    if sound:
        manifest["checksum"] = manifest_checksum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_content_is_checked_on_request(tmp_path: Path) -> None:
    save(tmp_path / "x", "thing", ARRAYS, parts={"inner": lambda path: save(path, "part", {"b": np.ones(3)})})
    verify(tmp_path / "x")
    _flip(tmp_path / "x" / "a.npy")
    _flip(tmp_path / "x" / "inner" / "b.npy")
    assert Artefact(tmp_path / "x")["a"][0] == 0  # not read whole
    with pytest.raises(ArtefactError, match=r"x/a\.npy: damaged \(its checksum differs\)"):
        Artefact(tmp_path / "x", content=True)
    with pytest.raises(ArtefactError, match=r"x/a\.npy: damaged .*\(1 more fault"):
        verify(tmp_path / "x")
    assert [fault.partition(":")[0] for fault in audit(tmp_path / "x").faults] == [
        str(tmp_path / "x" / "a.npy"),
        str(tmp_path / "x" / "inner" / "b.npy"),
    ]


def test_a_part_is_the_one_that_was_saved(tmp_path: Path) -> None:
    for value in (1, 2):
        save(tmp_path / str(value), "thing", {}, parts={"in": lambda p, v=value: save(p, "part", {"b": np.full(3, v)})})
    shutil.rmtree(tmp_path / "1" / "in")
    shutil.copytree(tmp_path / "2" / "in", tmp_path / "1" / "in")
    with pytest.raises(ArtefactError, match="is not the one that"):
        verify(tmp_path / "1")


def test_arrays_of_a_replaced_artefact_are_refused(tmp_path: Path) -> None:
    """Arrays are opened later than the manifest: they must not be those of an artefact that took its place."""
    save(tmp_path / "x", "thing", {"a": np.full(3, 1), "b": np.full(3, 1)})
    opened = Artefact(tmp_path / "x")
    assert opened["a"].tolist() == [1, 1, 1]
    save(tmp_path / "x", "thing", {"a": np.full(3, 2), "b": np.full(3, 2)})
    with pytest.raises(ArtefactError, match="x: was replaced while it was read; try again"):
        opened["b"]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_racing_writers_never_mix(tmp_path: Path, can_exchange: bool) -> None:
    """Many writers of one folder and one pair of files: what is there is whole at every moment, and of one writer."""
    program = textwrap.dedent("""
        import sys, numpy as np
        from pathlib import Path
        from hyperbaton.base import writing
        from hyperbaton.base.store import save
        from hyperbaton.base.writing import writing_files
        if sys.argv[3] == "False":
            writing._renameat2 = lambda: None
        folder, k = Path(sys.argv[1]), int(sys.argv[2])
        for _ in range(15):
            save(folder / "x", "thing", {name: np.full(2_000, k) for name in "abc"})
            with writing_files([folder / "f", folder / "g"]) as asides:
                for aside in asides:
                    aside.write_text(f"{k}")
    """)
    command = [sys.executable, "-c", program, str(tmp_path)]
    with ExitStack() as stack:
        writers = [stack.enter_context(started([*command, str(k), str(can_exchange)])) for k in range(4)]
        assert [writer.wait(timeout=PATIENCE) for writer in writers] == [0] * 4
    artefact = Artefact(tmp_path / "x", content=True)
    assert len({value for name in "abc" for value in artefact[name].tolist()}) == 1
    assert (tmp_path / "f").read_text() == (tmp_path / "g").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f", "g", "x"]


def test_leftovers_of_killed_writers_go_and_those_of_live_ones_stay(tmp_path: Path) -> None:
    program = "import sys; from hyperbaton.base.writing import writing_folder\nwith writing_folder(sys.argv[1]): "
    killed, waiting = (
        [sys.executable, "-c", program + then, str(tmp_path / "x")]
        for then in ("import os; os.kill(os.getpid(), 9)", "print('ready', flush=True); sys.stdin.read()")
    )
    subprocess.run(killed, check=False, timeout=PATIENCE)
    dead = list(tmp_path.iterdir())
    with started(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"ready\n"
        alive = list(tmp_path.iterdir())
        assert len(dead) == len(alive) == 1
        assert dead != alive  # the second writer removed what the first one left
        save(tmp_path / "x", "thing", ARRAYS)
        assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "x", *alive])
        writer.communicate(b"", timeout=PATIENCE)


@pytest.mark.parametrize("name", ["x.replaced", "x.4000000-0123abcd.replaced"])
def test_the_only_copy_survives_the_next_attempt(tmp_path: Path, name: str) -> None:
    """A writer that was killed between putting the old folder aside and the new one in place."""
    save(tmp_path / "x", "thing", {"a": np.full(3, 1)})
    (tmp_path / "x").rename(tmp_path / name)
    with pytest.raises(ZeroDivisionError), writing_folder(tmp_path / "x"):
        raise ZeroDivisionError
    assert Artefact(tmp_path / "x")["a"].tolist() == [1, 1, 1]
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_files_that_belong_together_inside_of_a_folder(tmp_path: Path) -> None:
    """The folder is locked by the same process; and it lies as deep as its target, for relative paths in it."""
    with writing_folder(tmp_path / "x") as folder:
        assert folder.parent == tmp_path
        with writing_files([folder / "manifest.json", folder / "b"]) as asides:
            for aside in asides:
                aside.write_text("text")
    assert (tmp_path / "x" / "b").read_text() == "text"


def test_odd_names(tmp_path: Path) -> None:
    save(tmp_path / ("é" * 120), "thing", ARRAYS)
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    save(tmp_path / "real", "thing", ARRAYS)
    save(tmp_path / "link", "thing", {"a": np.zeros(2)})
    assert (tmp_path / "link").is_symlink()
    assert Artefact(tmp_path / "real")["a"].shape == (2,)


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
        with started([sys.executable, "-c", program, str(tmp_path / "x")]):
            wait_for((tmp_path / "x").exists)
            time.sleep(float(delay))
        if (tmp_path / "x").exists():
            artefact = Artefact(tmp_path / "x", "thing")
            assert set(artefact["a"].tolist()) == set(artefact["b"].tolist())
            assert len(set(artefact["a"].tolist())) == 1
