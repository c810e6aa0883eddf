"""Atomic writes of files and folders, safe with concurrent writers.

Each writer writes to `NAME.PID-RANDOM.incomplete` next to its target, and replaces the target when the data is complete and
on the disk. If two writers have the same target, the last to finish wins; their data is never mixed. On systems that can
exchange two folders in one step (Linux), the writer does so. Elsewhere the old folder is briefly renamed to
`NAME.PID-RANDOM.replaced`; if the writer is killed then, the next one restores it.

A writer locks its incomplete file or folder. The lock ends with its process, so anything unlocked is left over, and the
next writer of the target removes it. Writers lock the target's folder while they remove leftovers, and while they put
their data in place, so that these steps do not overlap.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import cast

from hyperbaton.base.errors import ArtefactError

MANIFEST = "manifest.json"
INCOMPLETE, REPLACED = "incomplete", "replaced"

_LONGEST_NAME = 200  # bytes; most file systems allow 255, and the mark needs some


@contextlib.contextmanager
def writing_folder(path: str | PathLike[str], mark: str = MANIFEST) -> Iterator[Path]:
    """Yield a folder to write into, and put it in place of `path` when the block ends without an error.

    A folder is replaced only if it contains the file `mark`, since any other folder may be the user's work.
    """
    shown = path
    try:
        path = real_place(path)
        check_folder(path, mark, shown)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(path, mark) as aside:
            yield aside
            for file in aside.rglob("*"):
                fsync(file)
            fsync(aside)
            with _locked([path.parent]):
                check_folder(path, mark, shown)
                _replace_folder(aside, path)
            fsync(path.parent)
    except OSError as error:
        raise ArtefactError(f"{shown}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def writing_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield a file name to write to, and put that file in place of `path` when the block ends without an error."""
    with writing_files([path]) as (aside,):
        yield aside


@contextlib.contextmanager
def writing_files(paths: Sequence[str | PathLike[str]]) -> Iterator[list[Path]]:
    """Yield several files to write that belong together: all of them appear at the end, or none.

    Targets that are not ordinary files (devices, pipes) are written to directly.
    """
    with contextlib.ExitStack() as stack:
        try:
            finals = [real_place(path) for path in paths]
            if len(set(finals)) != len(finals):
                raise ArtefactError(f"{paths[-1]}: the same file would be written twice")
            asides = []
            for path in finals:
                if is_special(path):
                    asides.append(path)
                    continue
                stack.enter_context(_with_folder(path.parent))
                asides.append(stack.enter_context(_claimed(path)))
            moves = [(aside, path) for aside, path in zip(asides, finals, strict=True) if aside != path]
            yield asides
            for aside, _ in moves:
                fsync(aside)
            folders = sorted({path.parent for _, path in moves})
            with _locked(folders):
                _move_all(moves)
            for folder in folders:
                fsync(folder)
        except OSError as error:
            names = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
            raise ArtefactError(f"{names}: cannot be written: {error.strerror or error}") from error


def real_place(path: str | PathLike[str]) -> Path:
    """Follow the symbolic links of a path; raise OSError where they form a loop."""
    place = Path(os.path.realpath(path))
    # A link that realpath does not resolve is a link to itself, directly or through others.
    if any(each.is_symlink() for each in (place, *place.parents)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return place


@contextlib.contextmanager
def _with_folder(folder: Path) -> Iterator[None]:
    """Create a folder and its missing parents, and remove those that are still empty at the end."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for each in missing:
            with contextlib.suppress(OSError):
                each.rmdir()


def _move_all(moves: Sequence[tuple[Path, Path]]) -> None:
    """Move every file to its place; if one cannot be moved, restore the files that the others replaced."""
    if len(moves) == 1:
        aside, path = moves[0]
        aside.replace(path)
        return
    done: list[tuple[Path, Path | None]] = []
    try:
        for aside, path in moves:
            old = None
            if path.exists():
                old = aside.with_suffix(f".{REPLACED}")
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


def check_folder(path: str | PathLike[str], mark: str = MANIFEST, shown: str | PathLike[str] | None = None) -> None:
    """Raise ArtefactError unless `path` is missing, empty, or an artefact (a folder with the file `mark`)."""
    # Looked for first: another writer may replace the folder, and remove its files, while they are listed.
    if Path(path, mark).exists():
        return
    try:
        names = [file.name for file in Path(path).iterdir()]
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise ArtefactError(f"{shown or path}: a file with that name already exists") from error
    if names and mark not in names:
        raise ArtefactError(f"{shown or path}: the folder contains files that are not an artefact; choose another name")


def _replace_folder(aside: Path, path: Path) -> None:
    """Move a folder into place; an old one there is removed, or takes the place of the new one."""
    if not path.exists():
        aside.rename(path)
    elif not _exchange(aside, path):
        old = aside.with_suffix(f".{REPLACED}")
        path.rename(old)
        try:
            aside.rename(path)
        except BaseException:
            old.rename(path)
            raise
        _remove(old)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    import ctypes  # imported here: readers do not need it

    if (renameat2 := _renameat2()) is None:
        return False
    at_cwd, exchange = -100, 2
    if renameat2(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


@cache
def _renameat2() -> Callable[..., int] | None:
    import ctypes

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return cast(Callable[..., int], function)


@contextlib.contextmanager
def _claimed(path: Path, mark: str | None = None) -> Iterator[Path]:
    """Create a temporary file, or with `mark` a folder, next to a path, locked by this writer; remove it at the end."""
    aside = path.with_name(f"{_stem(path)}.{os.getpid()}-{os.urandom(4).hex()}.{INCOMPLETE}")
    with _locked([path.parent]):
        _remove_leftovers(path, mark)
        if mark is None:
            aside.touch(exist_ok=False)
        else:
            aside.mkdir()
        handle = os.open(aside, os.O_RDONLY)
        _lock(handle)
    try:
        yield aside
    finally:
        _remove(aside)
        os.close(handle)


def remove_leftovers(path: Path) -> None:
    """Remove the leftovers of killed writers of this target."""
    with _locked([path.parent]):
        _remove_leftovers(path, None)


def _remove_leftovers(path: Path, mark: str | None) -> None:
    """Also restore a folder that a killed writer had moved aside, if it is complete: it contains the file `mark`."""
    replaced = _leftovers(path, REPLACED)
    for old in (*replaced, path.with_name(f"{path.name}.{REPLACED}")):  # the last is the name in earlier versions
        if mark is not None and (old / mark).exists() and not path.exists():
            old.rename(path)
        elif old in replaced:
            _remove(old)
    for aside in _leftovers(path, INCOMPLETE):
        if _is_abandoned(aside):
            _remove(aside)


def _is_abandoned(aside: Path) -> bool:
    """Whether a temporary file or folder no longer has a writer."""
    try:
        handle = os.open(aside, os.O_RDONLY)
    except OSError:
        return False
    try:
        return _lock(handle)
    finally:
        os.close(handle)


def being_replaced(path: Path) -> bool:
    """Whether a writer has moved the folder at a path aside and not yet put a new one in its place."""
    path = Path(os.path.realpath(path))
    return path.parent.is_dir() and bool(_leftovers(path, REPLACED))


def _leftovers(path: Path, ending: str) -> list[Path]:
    pattern = re.compile(rf"{re.escape(_stem(path))}\.\d+-[0-9a-f]{{8}}\.{ending}")
    with os.scandir(path.parent) as entries:
        return [path.with_name(entry.name) for entry in entries if pattern.fullmatch(entry.name)]


def _lock(handle: int) -> bool:
    """Lock a file or folder; False if another process has, or the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _locked(folders: Sequence[Path]) -> Iterator[None]:
    """Prevent other writers from removing leftovers in these folders, and from moving data into them, at the same time.

    A folder that is itself being written belongs to one writer, which has locked it.
    """
    handles = [os.open(folder, os.O_RDONLY) for folder in folders if folder.suffix != f".{INCOMPLETE}"]
    try:
        for handle in handles:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        for handle in handles:
            os.close(handle)


def is_open_as(handle: int, path: Path) -> bool:
    """Whether a file or folder that was opened is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _stem(path: Path) -> str:
    """The name, or as much of it as leaves room for a mark."""
    return os.fsencode(path.name)[:_LONGEST_NAME].decode("utf-8", "ignore")


def is_special(path: Path) -> bool:
    """Whether a path is a device or pipe, which is written to directly."""
    return path.exists() and not path.is_file() and not path.is_dir()


def fsync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
