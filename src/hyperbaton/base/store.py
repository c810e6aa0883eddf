"""Artefacts: trained or prepared data is a folder of named arrays with a manifest.

    phrases/
        manifest.json              format, kind, options, inputs, seed, package version, every array's type, shape, checksum
        table.scores.npy           one array per file, memory-mapped on load

A folder is written under a temporary name and renamed when it is complete (`writing.py`). Nothing is ever unpickled.

A `Kind` declares which arrays an artefact has, their types and shapes, and the form of its manifest (`forms.py`); both
saving and opening check them. Opening an artefact also checks the manifest's checksum, and the header and size of each
array file. The content of arrays is checked on request: `Artefact(…, content=True)`, `verify`.

Faults in stored data raise `ArtefactError`. Other exceptions are bugs, and are not converted.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError, DamagedError, HyperbatonError, OptionError
from hyperbaton.base.forms import Fault, Form, Json, JsonObject, Layout, form_fault, layout_fault
from hyperbaton.base.scratch import forget
from hyperbaton.base.writing import MANIFEST as MANIFEST
from hyperbaton.base.writing import being_replaced, is_open_as, writing_folder

FORMAT = 4

Arrays = Mapping[str, Array]
Manifest = JsonObject  # of the form `_FORM`
T = TypeVar("T")

_DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"})
_LONGEST_HEADER = 4096
_LARGEST = 2**56  # bytes
_AGAIN = "build the artefact again"
_ATTEMPTS = 200  # to open a folder that other writers replace at the same time
_PAUSE = 0.001  # seconds between two attempts if the folder is missing for a moment

# A reference to another artefact: its path, the prefix of the arrays in question, and a digest.
REFERENCE: Form = {"path": str, "arrays": str, "digest": str}
# What every manifest contains; the format is checked before.
_FORM: Form = {
    **dict.fromkeys(("kind", "version", "checksum"), str),
    "options": {},
    "inputs": {"*": str},
    "seed": int | None,
    "details": {"references?": {"*": REFERENCE}},
    "arrays": {"*": {"dtype": str, "shape": list[int], "checksum": str}},
    "parts": {"*": {"checksum": str}},
}


@dataclass(frozen=True)
class Kind:
    """A kind of artefact: its name and the form of its content (`forms.py`).

    Arguments:
        arrays: the layout of its arrays, or a function that makes it from a manifest; an empty layout allows any.
        about: the form of its manifest: what `details`, `options`, `inputs` and `seed` must be.
        others: whether there may be arrays that are not declared.
    """

    name: str
    arrays: Layout | Callable[[Manifest], Layout] = field(default_factory=dict)
    about: Mapping[str, Form] = field(default_factory=dict)
    others: bool = False

    def fault(self, manifest: Manifest) -> str | None:
        """The first fault in a manifest of this kind, if any."""
        if fault := form_fault(manifest, self.about):
            return str(fault)
        layout = self.arrays(manifest) if callable(self.arrays) else self.arrays
        return _layout_fault(layout, manifest, self.others or not layout)


def _layout_fault(layout: Layout, manifest: Manifest, others: bool = True) -> str | None:
    arrays = {name: (entry["dtype"], entry["shape"]) for name, entry in manifest["arrays"].items()}
    return layout_fault(layout, arrays, others)


class StoredItems(dict[str, T]):
    """Named items of a manifest; a missing name is a fault of the manifest."""

    def __init__(self, items: Mapping[str, T], manifest: Path, what: str, prefix: str = "") -> None:
        super().__init__(items)
        self._manifest, self._what, self._prefix = manifest, what, prefix

    def __missing__(self, name: str) -> T:
        raise ArtefactError(f"{self._manifest}: lists no {self._what} {self._prefix + name!r}; {_AGAIN}")

    def group(self, prefix: str) -> StoredItems[T]:
        """The items whose names start with `prefix.`, by the rest of the name."""
        return StoredItems(_group(self, prefix), self._manifest, self._what, f"{self._prefix}{prefix}.")


def save(
    path: str | PathLike[str],
    kind: str | Kind,
    arrays: Arrays | Iterable[tuple[str, Array]],
    *,
    options: Mapping[str, object] | None = None,
    inputs: Mapping[str, str] | None = None,
    seed: int | None = None,
    details: Mapping[str, object] | None = None,
    parts: Mapping[str, Callable[[Path], None]] | None = None,
) -> None:
    """Write an artefact, all or nothing.

    Arguments:
        kind: the kind of artefact, checked on load. The content must have the form that a `Kind` declares.
        arrays: by name, or pairs of name and array that are produced one after the other.
        options: the options it was made with; inputs: name → hash of each input.
        details: anything else that JSON can represent.
        parts: artefacts inside this one: name of the folder → function that writes it.
    """
    from importlib.metadata import version  # slow to import, and not needed to read

    kind = Kind(kind) if isinstance(kind, str) else kind
    with writing_folder(path) as folder:
        listing = {}
        for name, given in arrays.items() if isinstance(arrays, Mapping) else arrays:
            array = np.ascontiguousarray(given)
            _write_array(folder / f"{name}.npy", array)
            listing[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "checksum": _checksum(array)}
            forget(given)
        for name, write in (parts or {}).items():
            write(folder / name)
        manifest = {
            "format": FORMAT,
            "kind": kind.name,
            "version": version("hyperbaton"),
            "options": dict(options or {}),
            "inputs": dict(inputs or {}),
            "seed": seed,
            "details": dict(details or {}),
            "arrays": listing,
            "parts": {name: {"checksum": _read_manifest(folder / name)["checksum"]} for name in parts or {}},
        }
        manifest = json.loads(json.dumps(manifest))  # as it will be read
        if (fault := kind.fault(manifest)) is not None:
            raise TypeError(f"not a valid {kind.name} artefact: {fault}")
        manifest["checksum"] = manifest_checksum(manifest)
        text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _write_array(path: Path, array: Array) -> None:
    # Not NumPy's writer: on a full disk its error gives the number of items written, but not the reason.
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(_bytes(array).data)


class Artefact:
    """An artefact opened for reading; its arrays are memory-mapped when asked for.

    They always belong to the artefact that was opened, even if it is replaced meanwhile. With `content`, the checksum of
    every array is checked at once. An artefact that is replaced while it is opened is opened again.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        kind: str | Kind | None = None,
        *,
        content: bool = False,
        folder: int | None = None,
    ) -> None:
        self.path = Path(path)
        if folder is None:
            _with_folder(self.path, lambda opened: self._open(opened, kind, content))
        else:
            self._open(folder, kind, content)

    def _open(self, folder: int, kind: str | Kind | None, content: bool) -> None:
        self._folder = os.dup(folder)
        close = weakref.finalize(self, os.close, self._folder)
        try:
            self.manifest = _read_manifest(self.path, self._folder)
            if kind is not None:
                self._check_kind(Kind(kind) if isinstance(kind, str) else kind)
            for name in self.manifest["arrays"] if content else ():
                self.check(name)
        except BaseException:
            close()
            raise

    def _check_kind(self, kind: Kind) -> None:
        if self.kind != kind.name:
            raise ArtefactError(f"{self.path}: is {with_article(self.kind)} artefact, not {with_article(kind.name)} one")
        self._refuse(kind.fault(self.manifest))

    def require(self, layout: Layout) -> Artefact:
        """Check that the arrays are as declared, and return this artefact: for code that reads arrays of several kinds."""
        self._refuse(_layout_fault(layout, self.manifest))
        return self

    def detail(self, name: str, form: Form) -> Json:
        """A detail of the manifest, if it is of that form."""
        self._refuse(form_fault(self.manifest["details"], {name: form}, "details"))
        return self.manifest["details"][name]

    def _refuse(self, fault: Fault | str | None) -> None:
        if fault is not None:
            raise ArtefactError(f"{self.path / MANIFEST}: damaged ({fault}); {_AGAIN}")

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])

    @property
    def details(self) -> StoredItems[Json]:
        return StoredItems(self.manifest["details"], self.path / MANIFEST, "detail")

    @property
    def options(self) -> StoredItems[Json]:
        return StoredItems(self.manifest["options"], self.path / MANIFEST, "option")

    @property
    def references(self) -> dict[str, Json]:
        """The other artefacts that this one refers to, by name: `REFERENCE` has the form of each."""
        return dict(self.manifest["details"].get("references", {}))

    def __contains__(self, name: str) -> bool:
        return name in self.manifest["arrays"]

    def __getitem__(self, name: str) -> Array:
        if name not in self:
            raise ArtefactError(f"{self.path / MANIFEST}: lists no array {name!r}; {_AGAIN}")
        entry, file_path = self.manifest["arrays"][name], self.path / f"{name}.npy"
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        try:
            with open(f"{name}.npy", "rb", opener=_opener_in(self._folder)) as file:
                start = _check_header(file, file_path, dtype, shape)
                expected, size = start + dtype.itemsize * prod(shape), os.fstat(file.fileno()).st_size
                if size != expected:
                    raise ArtefactError(f"{file_path}: damaged: has {size} bytes instead of {expected}; {_AGAIN}")
                # An empty file cannot be mapped.
                return np.memmap(file, dtype, "r", start, shape) if prod(shape) else np.empty(shape, dtype)
        except (OSError, ValueError) as error:  # ValueError: it has just been truncated
            if not is_open_as(self._folder, self.path):
                raise ArtefactError(f"{self.path}: was replaced while it was read; try again") from error
            advice = "" if isinstance(error, PermissionError) else f"; {_AGAIN}"
            raise ArtefactError(f"{file_path}: {_reason(error)}{advice}") from error

    def check(self, name: str) -> int:
        """Check the content of an array against its checksum; returns its size in bytes."""
        array = self[name]
        if _checksum(array) != self.manifest["arrays"][name]["checksum"]:
            raise ArtefactError(f"{self.path / name}.npy: damaged (its checksum differs); {_AGAIN}")
        return array.nbytes

    def digest(self, prefix: str = "") -> str:
        """A hash of the content."""
        return digest_of(self.content(prefix))

    def content(self, prefix: str = "") -> str:
        """What the manifest says of the content, or of the arrays whose names start with `prefix.`.

        It excludes how the artefact was made (the version, the time it took).
        """
        content = [self._entries(prefix), self.manifest["inputs"]]
        if not prefix:
            content += [self.kind, self.options, self.details.get("model")]
        return json.dumps(content, sort_keys=True)

    def _entries(self, prefix: str) -> JsonObject:
        """The manifest's entries of the arrays whose names start with `prefix.`, or of all arrays."""
        entries = self.manifest["arrays"]
        return {name: entry for name, entry in entries.items() if not prefix or f"{name}.".startswith(f"{prefix}.")}

    def group(self, prefix: str) -> StoredItems[Array]:
        """The arrays whose names start with `prefix.`, by the rest of the name; no others are opened."""
        return self._stored([f"{prefix}.{rest}" for rest in _group(self.manifest["arrays"], prefix)]).group(prefix)

    def arrays(self) -> StoredItems[Array]:
        """All arrays, by name."""
        return self._stored(self.manifest["arrays"])

    def _stored(self, names: Iterable[str]) -> StoredItems[Array]:
        return StoredItems({name: self[name] for name in names}, self.path / MANIFEST, "array")

    def part(self, name: str) -> Path:
        """The path of an artefact inside this one; it must be the one that was saved with it."""
        if name not in self.manifest["parts"]:
            raise ArtefactError(f"{self.path / MANIFEST}: lists no part {name!r}")
        path = self.path / name
        if _read_manifest(path)["checksum"] != self.manifest["parts"][name]["checksum"]:
            raise ArtefactError(f"{path}: is not the one that {self.path} was saved with; {_AGAIN}")
        return path

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Name this artefact in errors about its content; errors of other types are not about its content."""
        try:
            yield
        except OptionError as error:
            raise ArtefactError(f"{self.path}: {error}") from error
        except DamagedError as error:
            raise ArtefactError(f"{self.path}: damaged ({error.args[0]}); {_AGAIN}") from error
        except HyperbatonError as error:
            if type(error) is not HyperbatonError:  # an error of the core does not name a file yet
                raise
            raise ArtefactError(f"{self.path}: {error}") from error


def read_artefact(
    path: str | PathLike[str], kind: str | Kind | None, read: Callable[[Artefact], T], *, content: bool = False
) -> T:
    """Open an artefact and build an object from it; both are repeated if the artefact is replaced meanwhile."""

    def attempt(folder: int) -> T:
        artefact = Artefact(path, kind, content=content, folder=folder)
        with artefact.reading():
            return read(artefact)

    return _with_folder(Path(path), attempt)


def _with_folder(path: Path, attempt: Callable[[int], T]) -> T:
    """Call a function with the open folder of an artefact, and again if it fails and the folder was replaced."""
    for n_left in reversed(range(_ATTEMPTS)):
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError as error:
            if n_left and being_replaced(path):
                time.sleep(_PAUSE)
                continue
            raise ArtefactError(f"{path}: no such artefact") from error
        except NotADirectoryError as error:
            raise ArtefactError(f"{path}: not an artefact of hyperbaton (a file, not a folder)") from error
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
            raise ArtefactError(f"{path}: {_reason(error)}") from error
        try:
            return attempt(folder)
        except ArtefactError:
            if not n_left or is_open_as(folder, path):
                raise
        finally:
            os.close(folder)
    raise AssertionError("the last attempt returns or raises")


@dataclass
class Verification:
    """The result of reading artefacts whole: the amount read, and every fault, one line each, with its file."""

    n_arrays: int = 0
    n_bytes: int = 0
    faults: list[str] = field(default_factory=list)

    def read(self, artefact: Artefact, prefix: str) -> None:
        """Read arrays of an artefact, and without a prefix also the artefacts inside it and those that it refers to."""
        for name in artefact._entries(prefix):
            with self._noting_faults():
                self.n_bytes += artefact.check(name)
                self.n_arrays += 1
        if prefix:
            return
        for name in artefact.manifest["parts"]:
            with self._noting_faults():
                self.add(audit(artefact.part(name)))
        for name, entry in artefact.references.items():
            with self._noting_faults():
                path = _referred(artefact, entry)
                if Artefact(path).digest(entry["arrays"]) != entry["digest"]:
                    raise ArtefactError(f"{artefact.path}: its part {name} ({path}) is no longer what it was built with")
                self.add(audit(path, entry["arrays"]))

    def add(self, other: Verification) -> None:
        """Add the findings about another artefact."""
        self.n_arrays += other.n_arrays
        self.n_bytes += other.n_bytes
        self.faults += other.faults

    @contextlib.contextmanager
    def _noting_faults(self) -> Iterator[None]:
        try:
            yield
        except ArtefactError as error:
            self.faults.append(str(error))


def verify(path: str | PathLike[str]) -> None:
    """Read an artefact whole, with those inside it, and raise ArtefactError if anything differs from its checksum."""
    faults = audit(path).faults
    if faults:
        more = f" ({len(faults) - 1} more faults)" if len(faults) > 1 else ""
        raise ArtefactError(faults[0] + more)


def audit(path: str | PathLike[str], prefix: str = "") -> Verification:
    """Read an artefact whole and list all faults, of the arrays whose names start with `prefix.`, or of all arrays."""
    findings = Verification()

    def attempt(folder: int) -> None:
        nonlocal findings
        findings = Verification()
        findings.read(Artefact(path, folder=folder), prefix)
        if findings.faults:  # repeat the audit if the artefact was replaced meanwhile
            raise ArtefactError(findings.faults[0])

    try:
        _with_folder(Path(path), attempt)
    except ArtefactError as error:
        findings.faults = findings.faults or [str(error)]
    return findings


def stored_bytes(path: str | PathLike[str], prefix: str = "") -> int:
    """The size of the arrays of an artefact, with its parts and those it refers to, or of those below `prefix.`."""
    artefact = Artefact(path)
    entries = artefact._entries(prefix).values()
    size = sum(prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize for entry in entries)
    if not prefix:
        size += sum(stored_bytes(artefact.part(name)) for name in artefact.manifest["parts"])
        size += sum(stored_bytes(_referred(artefact, entry), entry["arrays"]) for entry in artefact.references.values())
    return size


def referred_artefacts(path: str | PathLike[str]) -> list[Path]:
    """The paths of the artefacts that this one refers to; none if it is damaged, which its reader will report."""
    try:
        artefact = Artefact(path)
        with artefact.reading():
            return [_referred(artefact, entry) for entry in artefact.references.values()]
    except ArtefactError:
        return []


def _referred(artefact: Artefact, entry: Json) -> Path:
    return Path(os.path.normpath(Path(os.path.realpath(artefact.path)) / entry["path"]))


def _read_manifest(path: Path, folder: int | None = None) -> Manifest:
    file = path / MANIFEST
    try:
        with open(MANIFEST if folder is not None else file, encoding="utf-8", opener=_opener_in(folder)) as stream:
            manifest, fault = _parsed(stream.read())
    except FileNotFoundError as error:
        if folder is not None or path.exists():
            raise ArtefactError(f"{path}: not an artefact of hyperbaton (no {MANIFEST})") from error
        raise ArtefactError(f"{path}: no such artefact") from error
    except OSError as error:
        raise ArtefactError(f"{file}: {_reason(error)}") from error
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"{file}: damaged ({_first_line(error)}); {_AGAIN}") from error
    if fault is not None:
        raise ArtefactError(f"{file}: damaged ({fault}); {_AGAIN}")
    if not _is_current(manifest):
        made = f"hyperbaton {_short(manifest.get('version', '?'))}, format {_short(manifest['format'])}"
        raise ArtefactError(f"{path}: made by {made}; this version reads format {FORMAT}: {_AGAIN}")
    return manifest


@lru_cache(64)
def _parsed(text: str) -> tuple[JsonObject, str | None]:
    """A manifest and its first fault; checked once, since opening a system reads each manifest several times.

    The manifest must not be changed.
    """
    manifest = json.loads(text)
    if not isinstance(manifest, dict) or "format" not in manifest:
        return {}, "it names no format"
    fault = _manifest_fault(manifest) if _is_current(manifest) else None
    if fault is None and _is_current(manifest) and manifest["checksum"] != manifest_checksum(manifest):
        fault = "its checksum differs: was it edited?"
    return manifest, fault


def _is_current(manifest: JsonObject) -> bool:
    return manifest["format"] == FORMAT and not isinstance(manifest["format"], bool)


def _opener_in(folder: int | None) -> Callable[[str, int], int]:
    """An opener of ordinary files of a folder only, since reading a pipe or a device could block forever."""

    def opener(name: str, flags: int) -> int:
        handle = os.open(name, flags | os.O_NONBLOCK, dir_fd=folder)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
        raise OSError(errno.EINVAL, "not an ordinary file")

    return opener


def _reason(error: OSError | ValueError) -> str:
    """Why a file cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    return f"cannot be read: {(isinstance(error, OSError) and error.strerror) or _first_line(error)}"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _manifest_fault(manifest: JsonObject) -> str | None:
    """The first fault in the form of a manifest, if any."""
    if fault := form_fault(manifest, _FORM):
        return str(fault)
    for what, names in (("a kind", [manifest["kind"]]), ("an array", manifest["arrays"]), ("a part", manifest["parts"])):
        for name in names:
            if not name or name.startswith(".") or set(name) & {"/", "\0"} or not name.isprintable():
                return f"{what} cannot be called {_short(name)}"
    for name, entry in manifest["arrays"].items():
        dtype, shape = entry["dtype"], entry["shape"]
        if dtype not in _DTYPES:
            return f"array {name!r}: no type {_short(dtype)}"
        if not 1 <= len(shape) <= 3 or min(shape) < 0 or 8 * prod(shape) > _LARGEST:
            return f"array {name!r}: no shape {_short(shape)}"
    return None


def _short(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits
        text = f"a {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:40]}…"


def _check_header(file: BinaryIO, path: Path, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> int:
    """Check that a file has the header of an array of this type and shape; returns the offset of the data.

    The header is compared, not parsed, since the manifest contains all of its information.
    """
    magic = file.read(10)
    if magic[:8] != b"\x93NUMPY\x01\x00" or len(magic) < 10:
        raise ArtefactError(f"{path}: damaged (not an array file); {_AGAIN}")
    length = int.from_bytes(magic[8:], "little")
    text = file.read(min(length, _LONGEST_HEADER))
    expected = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    if len(text) != length or text.rstrip(b" \n") != expected.encode():
        header = text[:120].decode("ascii", "replace").strip()
        raise ArtefactError(f"{path}: damaged: holds {header!r}, the manifest says {dtype.str} {list(shape)}; {_AGAIN}")
    return 10 + length


def manifest_checksum(manifest: Mapping[str, object]) -> str:
    """The checksum of a manifest, independent of its formatting."""
    rest = {name: value for name, value in manifest.items() if name != "checksum"}
    try:
        text = json.dumps(rest, sort_keys=True)
    except (ValueError, RecursionError):  # numbers of thousands of digits
        return ""
    return _checksum(np.frombuffer(text.encode(), np.uint8))


def _checksum(array: Array) -> str:
    return f"{_core.checksum(_bytes(array)):016x}"


def _bytes(array: Array) -> npt.NDArray[np.uint8]:
    whole = np.ascontiguousarray(array).reshape(-1)
    return np.asarray(whole.view(np.uint8)) if whole.size else np.empty(0, np.uint8)


def check_offsets(offsets: npt.NDArray[np.int64], n_values: int) -> None:
    """Raise DamagedError unless offsets start at 0, never decrease, and end with the number of values."""
    fits = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == n_values
    step = 1 << 20  # they may be larger than memory
    if not fits or any((np.diff(offsets[at : at + step + 1]) < 0).any() for at in range(0, len(offsets), step)):
        raise DamagedError("offsets do not fit the values")


def check_numbers(numbers: Array, n: int, what: str) -> None:
    """Raise DamagedError unless all numbers are in 0 … n − 1."""
    step = 1 << 20  # they may be larger than memory
    for at in range(0, len(numbers), step):
        part = numbers[at : at + step]
        if part.size and (part.max() >= n or part.min() < 0):
            raise DamagedError(f"the number of a {what} is out of range")


def check_finite(numbers: Array, what: str) -> None:
    """Raise DamagedError if one of the numbers is infinite or none at all."""
    if not np.isfinite(numbers).all():
        raise DamagedError(f"{what} is not a number")


def group(items: Mapping[str, T], prefix: str) -> dict[str, T]:
    """The items whose names start with `prefix.`, by the rest of the name.

    >>> group({"source.tokens": 1, "source.vocabulary.bytes": 2, "target.tokens": 3}, "source")
    {'tokens': 1, 'vocabulary.bytes': 2}
    """
    return items.group(prefix) if isinstance(items, StoredItems) else _group(items, prefix)


def _group(items: Mapping[str, T], prefix: str) -> dict[str, T]:
    return {name[len(prefix) + 1 :]: item for name, item in items.items() if name.startswith(f"{prefix}.")}


def is_artefact(path: str | PathLike[str], kind: str = "") -> bool:
    """Whether a path is that of an artefact, or of one of this kind."""
    return Path(path, MANIFEST).exists() and (not kind or Artefact(path).kind == kind)


def remove_artefact(path: str | PathLike[str]) -> None:
    if is_artefact(path):
        shutil.rmtree(path)


def digest_of(content: str) -> str:
    """A hash of the content of an artefact."""
    from hashlib import blake2b  # imported here: it loads OpenSSL

    return blake2b(content.encode(), digest_size=16).hexdigest()


def hash_arrays(arrays: Arrays) -> str:
    """A hash of the content of named arrays, for manifests."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.view(np.uint8).data if array.size else b"")
    return digest.hexdigest()
