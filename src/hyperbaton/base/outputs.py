"""Check outputs before the work starts, so that hours of training are not lost to a wrong name.

No output may replace an input, lie inside an input artefact, or go to the same place as another output (`check_places`).
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TextIO

from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.writing import MANIFEST, check_folder, real_place

AnyPath = str | PathLike[str]
Kind = Literal["file", "artefact", "folder"]


@dataclass(frozen=True)
class Destination:
    """An output: its option, its path, and its kind.

    A file or an artefact replaces an existing one; in a folder, files are added to the existing ones.

    Arguments:
        updates: an input artefact that this output may replace with a new version.
    """

    option: str
    path: AnyPath
    kind: Kind = "file"
    updates: AnyPath | None = None


def check_places(outputs: Sequence[Destination], inputs: Iterable[AnyPath] = ()) -> None:
    """Check that outputs can be written, and that none of them destroys an input or another output; `-` is a stream.

    The artefacts that an input refers to are inputs too. An input that does not exist is left to its reader.
    """
    sources = [source for path in inputs for source in _sources(path)]
    for n, output in enumerate(outputs):
        if output.kind != "file" and is_stream(output.path):
            raise OptionError(f"{output.option} -: is a folder, which cannot go to standard output; choose a name")
        try:
            place = _place(output.path)
        except OSError as error:
            raise ArtefactError(f"{output.path}: cannot be written: {error.strerror or error}") from error
        for other in outputs[:n]:
            _check_apart(other, output)
        for source in sources:
            _check_source(output, place, source)
    for output in outputs:
        if output.kind == "file":
            check_file(output.path)
        elif output.kind == "folder":
            check_text_folder(output.path)


@dataclass(frozen=True)
class _Source:
    """An input that exists and is not a device."""

    path: AnyPath
    place: Path
    status: os.stat_result
    is_artefact: bool


def _sources(path: AnyPath) -> Iterator[_Source]:
    """Yield an input and the artefacts that it refers to; nothing if it cannot be read, which its reader will report."""
    from hyperbaton.base.store import referred_artefacts  # imports NumPy, which help does not need

    is_artefact = os.path.isfile(os.path.join(path, MANIFEST))  # noqa: PTH113, PTH118 - never raises
    for each in (path, *(referred_artefacts(path) if is_artefact else ())):
        if (status := _status(each, sys.stdin)) is not None:
            yield _Source(each, Path("-" if is_stream(each) else os.path.realpath(each)), status, is_artefact)


def _check_apart(one: Destination, other: Destination) -> None:
    first, second = _place(one.path), _place(other.path)
    if first == second:
        shared = "standard output" if first == Path("-") else other.path
        raise OptionError(
            f"{one.option} and {other.option} would both write to {shared}; choose another name for one of them"
        )
    for outer, inner in ((one, other), (other, one)):
        if outer.kind == "artefact" and _place(outer.path) in _place(inner.path).parents:
            raise OptionError(
                f"{inner.option} would write into {outer.path}, which {outer.option} replaces; choose a place outside it"
            )


def _check_source(output: Destination, place: Path, source: _Source) -> None:
    status, name = _status(output.path, sys.stdout), shown(source.path)
    if status is not None and os.path.samestat(status, source.status):  # even by another name such as a link
        adds_files = output.kind == "folder" and not source.is_artefact and source.place.is_dir()
        is_update = output.kind == "artefact" and source.is_artefact and output.updates == source.path
        if not adds_files and not is_update:
            raise OptionError(f"{output.option} would write to {name}, which is also an input; choose another name")
    elif source.is_artefact and source.place in place.parents:
        raise OptionError(f"{output.option} would write into {name}, which is an input artefact; choose a place outside it")
    elif output.kind == "artefact" and place in source.place.parents:
        raise OptionError(
            f"{output.option} would replace {output.path}, which contains the input {name}; choose another name"
        )


def _place(path: AnyPath) -> Path:
    """Where an output goes: `-` for stdout, otherwise the path with its symbolic links followed."""
    return Path("-") if is_stdout(path) else real_place(path)


def shown(path: AnyPath) -> str:
    """The name of an input file in messages."""
    return "standard input" if is_stream(path) else os.fspath(path)


def is_stream(path: AnyPath) -> bool:
    """Whether a path stands for stdin or stdout."""
    return os.fspath(path) == "-"


def is_stdout(path: AnyPath) -> bool:
    """Whether a path is stdout, by the name - or by another one such as /dev/stdout."""
    place, stdout = _status(path, sys.stdout), _status("-", sys.stdout)
    return is_stream(path) or (place is not None and stdout is not None and os.path.samestat(place, stdout))


def _status(path: AnyPath, standard: TextIO) -> os.stat_result | None:
    """The status of a file, folder or pipe, of `standard` for `-`; None for a device or a missing file."""
    try:
        status = os.fstat(standard.fileno()) if is_stream(path) else Path(path).stat()
    except (OSError, ValueError):
        return None
    return status if any(is_kind(status.st_mode) for is_kind in (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISDIR)) else None


def check_artefact(path: AnyPath, kind: str, model: str = "", *, force: bool = False) -> None:
    """Check that an artefact can be written: the path has no other files, and no artefact of another kind or model.

    `force` allows replacing an artefact of another kind or model.
    """
    _check_parent(path)
    check_folder(path)
    old = _stored(Path(path))
    if not force and old is not None and old != (kind, model):
        what, new = (f"{k} artefact" + (f" of the model {m}" if m else "") for k, m in (old, (kind, model)))
        raise ArtefactError(
            f"{path}: would replace {with_article(what)} with {with_article(new)}; use --force, or choose another name"
        )


def check_text_folder(path: AnyPath) -> None:
    """Check that files can be written into a folder, which may exist."""
    if Path(path).exists() and not Path(path).is_dir():
        raise ArtefactError(f"{path}: a file with that name already exists")
    _check_parent(Path(path) / "file")


def check_file(path: AnyPath) -> None:
    """Check that a file can be written; `-` is stdout, and anything but an ordinary file is accepted."""
    if is_stream(path):
        return
    file = Path(path)
    if file.is_dir():
        raise ArtefactError(f"{path}: a folder with that name already exists")
    if file.is_file() or not file.exists():
        _check_parent(file)


def _check_parent(path: AnyPath) -> None:
    """Try to create a file in the folder of `path`, or in the nearest parent that exists."""
    from tempfile import TemporaryDirectory  # imported here: readers do not need it

    parent = Path(path)
    try:
        parent = next(folder for folder in real_place(path).parents if folder.exists())
        with TemporaryDirectory(dir=parent, prefix=".hyperbaton-"):
            pass
    except OSError as error:
        where = "" if parent == Path(path) else f"{parent}: "
        raise ArtefactError(f"{path}: cannot be written: {where}{error.strerror or error}") from error


def _stored(path: Path) -> tuple[str, str] | None:
    """The kind and model of an artefact, of any format version; unknown if its manifest cannot be read."""
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        return str(manifest["kind"]), str(manifest["details"].get("model", ""))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "damaged", ""
