"""Declared forms of stored data: types and shapes of named arrays, types of JSON values.

A *layout* names arrays:

    PAIRS = {
        "offsets": "i8 n_phrases+1",      type, then one size for each dimension
        "targets": "u4 n_pairs",          a size is a number, a name, or * for any
        "scores": "f4 n_pairs *",         a name has the same value everywhere in a layout
        "counts?": "f4|f8 n_pairs 3",     optional, in one of two types
        "begins": "u4|packed n",          an array, or packed numbers (`packed.py`)
        "network.*": "f2 ...",            every array with such a name, of any shape; there may be none
    }

`within("table", PAIRS)` is the same layout with names and sizes below `table.`. A question mark after the first part of
a name makes the group optional: `within("table?", PAIRS)` asks for all of its arrays, or none.

A *form* is a type of JSON values: a type or union; `list[…]`, or `tuple[…]` for a list of that length; `[form]`, a list;
a mapping from keys to forms; a tuple of alternatives; or a function from a value to its form. In a mapping, a key that
ends with a question mark may be missing, `*` means all keys, and `#` means all keys, which must be whole numbers.
A `Limited` is a type with valid names and limits: what an option declares.

`form_fault` checks all of them: the content of manifests and results, options, and the keys of experiment files.
"""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Layout = Mapping[str, str]
Form = object
Json = Any  # a value read from JSON or TOML; its form is checked where it is read
JsonObject = dict[str, Json]

# The largest whole number of an option that declares no maximum: the core takes numbers of 32 bits.
LARGEST = 2**31 - 1
_LARGEST_STORED = 2**62
NAMES: Mapping[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    type(None): "null",
}


class Fault(NamedTuple):
    """A value that is not of its form, or a missing one; as text it describes stored data, `demand` is for users."""

    where: str
    expected: str = ""
    value: object = ...  # where there is none

    def __str__(self) -> str:
        if self.value is ...:
            return f"{self.where!r} is not {self.expected}" if self.expected else f"no {self.where!r}"
        kind = type(self.value)
        name = "an object" if kind is dict else NAMES.get(kind, kind.__name__)
        what = f"no usable {name.removeprefix('a ')}" if name == self.expected else f"{name}, not {self.expected}"
        return f"{self.where!r} is {what}" if self.where else f"it is {what}"

    @property
    def demand(self) -> str:
        """The required form of the value, in words, for messages."""
        return f"{self.where} must be {self.expected}, not {number_text(self.value)}".lstrip()


@dataclass(frozen=True)
class Limited:
    """The form of an option: a type, the valid values, and the limits of a number, which is finite."""

    type: Any
    choices: Sequence[str] | None = None
    minimum: float | None = None
    maximum: float | None = None

    def expected(self, value: Any) -> str | None:
        """What the value should be; None if it is valid."""
        if not _is_of(value, self.type):
            return NAMES.get(self.type) or str(self.type.__name__)
        if self.choices is not None and value not in self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.type not in (int, float):
            return None
        low, high = self.minimum, self.maximum
        if self.type is int:
            low, high = -LARGEST if low is None else low, LARGEST if high is None else high
        elif not math.isfinite(value):
            return "a finite number"
        if low is not None and value < low:
            return f"at least {number_text(low)}"
        return f"at most {number_text(high)}" if high is not None and value > high else None


def number_text(value: object) -> str:
    """A value for a message; Python refuses to write whole numbers of thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "a number of more than 40 digits"
    return f"{value:.10g}" if isinstance(value, float) and abs(value) >= 1e-4 else repr(value)


def within(prefix: str, layout: Layout, **sizes: str) -> dict[str, str]:
    """A layout below `prefix.`; `sizes` gives names of sizes that are shared with other layouts.

    >>> within("source", {"words": "u4 n", "offsets": "i8 n_phrases+1"}, n_phrases="n_rows")
    {'source.words': 'u4 source.n', 'source.offsets': 'i8 n_rows+1'}
    """
    group = prefix.rstrip("?")

    def renamed(match: re.Match[str]) -> str:
        return sizes.get(match[0], f"{group}.{match[0]}")

    # The type comes first, and has no space before it.
    return {f"{prefix}.{name}": re.sub(r"(?<= )[A-Za-z_][-.\w]*", renamed, text) for name, text in layout.items()}


def joined(groups: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Several layouts, or groups of named arrays, as one."""
    return {name: item for group in groups for name, item in group.items()}


def layout_fault(layout: Layout, arrays: Mapping[str, tuple[str, Sequence[int]]], others: bool = True) -> str | None:
    """The first array that is not as declared; `arrays` are types (`<u4`) and shapes by name.

    Arrays that are not declared are a fault unless there may be `others`.

    >>> layout_fault({"a": "u4 n", "b?": "f4 n 2"}, {"a": ("<u4", [3])})
    >>> layout_fault({"a": "u4 n", "b?": "f4 n 2"}, {"a": ("<u4", [3]), "b": ("<f4", [2, 2])})
    "array 'b' is f4 [2, 2], not f4 n 2 with n=3"
    """
    sizes: dict[str, int] = {}
    known: set[str] = set()
    for key, declared in layout.items():
        optional, mark, _ = key.rpartition("?")
        name = key.replace("?", "")
        if mark and not any(f"{other}.".startswith(f"{optional.replace('?', '')}.") for other in arrays):
            continue
        names = [other for other in arrays if fnmatchcase(other, name)] if "*" in name else [name]
        for each in names:
            if each not in arrays:
                return f"no array {each!r}"
            known.add(each)
            dtype, shape = arrays[each]
            if not _is_declared(dtype[1:], shape, declared, sizes):
                shared = [size.partition("+")[0] for size in declared.split()[1:]]
                given = ", ".join(f"{size}={sizes[size]}" for size in shared if size in sizes)
                return f"array {each!r} is {dtype[1:]} {list(shape)}, not {declared}{given and f' with {given}'}"
    return next((f"array {name!r} is not declared" for name in arrays if not others and name not in known), None)


def _is_declared(dtype: str, shape: Sequence[int], declared: str, sizes: dict[str, int]) -> bool:
    """Whether a type and a shape are as declared; notes the sizes that were not known yet."""
    dtypes, *dimensions = declared.split()
    if dtype == "u8" and "packed" in dtypes.split("|"):
        return len(shape) == 1
    if dtype not in dtypes.split("|"):
        return False
    if dimensions == ["..."]:
        return True
    if len(shape) != len(dimensions):
        return False
    known = dict(sizes)
    for size, dimension in zip(shape, dimensions, strict=True):
        name, _, more = dimension.partition("+")
        size -= int(more or 0)
        expected = int(name) if name.isdigit() else size if name == "*" else known.setdefault(name, size)
        if size != expected or size < 0:
            return False
    sizes |= known
    return True


def form_fault(value: object, form: Form, where: str = "") -> Fault | None:
    """The first place where a value is not of a form.

    Stored numbers are at most 2^62, and stored text can be written as UTF-8 and has no zero bytes: it may name a file.

    >>> str(form_fault({"a": [1, "x"]}, {"a": list[int], "b?": str}))
    "'a.1' is text, not a whole number"
    >>> form_fault(0, Limited(int, minimum=1), "max-length").demand
    'max-length must be at least 1, not 0'
    """
    if isinstance(form, types.FunctionType):
        form = form(value)
    if isinstance(form, tuple):
        faults = [form_fault(value, alternative, where) for alternative in form]
        return None if None in faults else faults[0]
    if isinstance(form, Mapping):
        if not isinstance(value, dict):
            return Fault(where, "an object", value)
        inner: list[tuple[str, object, Form]] = []
        for key, of_key in form.items():
            name = key.removesuffix("?")
            for other in value if name == "#" else ():
                if not re.fullmatch("-?[0-9]{1,18}", other):
                    return Fault(_below(where, other), "named by a whole number")
            if name in ("*", "#"):
                inner += [(other, item, of_key) for other, item in value.items()]
            elif name in value:
                inner.append((name, value[name], of_key))
            elif not key.endswith("?"):
                return Fault(_below(where, name))
    elif getattr(form, "__origin__", None) is tuple:
        kinds = typing.get_args(form)
        if not isinstance(value, list) or len(value) != len(kinds):
            return Fault(where, f"a list of {len(kinds)}", value)
        inner = [(str(i), item, kind) for i, (item, kind) in enumerate(zip(value, kinds, strict=True))]
    elif isinstance(form, list) or getattr(form, "__origin__", None) is list:
        if not isinstance(value, list):
            return Fault(where, "a list", value)
        (of_item,) = form if isinstance(form, list) else typing.get_args(form)
        inner = [(str(i), item, of_item) for i, item in enumerate(value)]
    elif isinstance(form, Limited):
        expected = form.expected(value)
        return None if expected is None else Fault(where, expected, value)
    else:
        kinds = typing.get_args(form) if isinstance(form, types.UnionType) else (form,)
        if any(_is_stored(value, kind) for kind in kinds):
            return None
        return Fault(where, " or ".join(NAMES.get(kind, str(kind)) for kind in kinds), value)
    return next((fault for name, item, of in inner if (fault := form_fault(item, of, _below(where, name)))), None)


def _is_of(value: object, kind: Any) -> bool:
    """Whether a value is of a type; every whole number is a number, and true is none."""
    if isinstance(value, bool) and kind in (int, float):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def _is_stored(value: object, kind: Form) -> bool:
    if not isinstance(kind, type) or typing.get_args(kind):
        return form_fault(value, kind) is None
    if isinstance(value, str) and ("\0" in value or not is_text(value)):
        return False
    return _is_of(value, kind) and not (isinstance(value, int) and abs(value) > _LARGEST_STORED)


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8; names of files may contain other bytes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
