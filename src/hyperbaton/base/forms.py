"""Declared forms of stored data: types and shapes of named arrays, types of JSON values.

A *layout* names arrays:

    PAIRS = {
        "offsets": "i8 n_phrases+1",      type, then one size for each dimension
        "targets": "u4 n_pairs",          a size is a number, a name, or * for any
        "scores": "f4 n_pairs *",         a name has the same value everywhere in a layout
        "counts?": "f4|f8 n_pairs 3",     optional, in one of two types
        "network.*": "f2 ...",            every array with such a name, of any shape; there may be none
    }

`within("table", PAIRS)` is the same layout with names and sizes below `table.`. A question mark after the first part of
a name makes the group optional: `within("table?", PAIRS)` asks for all of its arrays, or none.

A *form* is a type of JSON values: a type or union; `list[…]`, or `tuple[…]` for a list of that length; `[form]`, a list;
a mapping from keys to forms; a tuple of alternatives; or a function from a value to its form. In a mapping, a key that
ends with a question mark may be missing, `*` means all keys, and `#` means all keys, which must be whole numbers.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Layout = Mapping[str, str]
Form = object
Json = Any  # a value read from JSON or TOML; its form is checked where it is read
JsonObject = dict[str, Json]

_LARGEST = 2**62
_NAMES: dict[object, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


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


def joined(layouts: Iterable[Layout]) -> dict[str, str]:
    """Several layouts as one."""
    return {name: declared for layout in layouts for name, declared in layout.items()}


def layout_fault(layout: Layout, arrays: Mapping[str, tuple[str, Sequence[int]]]) -> str | None:
    """The first array that is not as declared; `arrays` are types (`<u4`) and shapes by name.

    >>> layout_fault({"a": "u4 n", "b?": "f4 n 2"}, {"a": ("<u4", [3])})
    >>> layout_fault({"a": "u4 n", "b?": "f4 n 2"}, {"a": ("<u4", [3]), "b": ("<f4", [2, 2])})
    "array 'b' is f4 [2, 2], not f4 n 2 with n=3"
    """
    sizes: dict[str, int] = {}
    for key, declared in layout.items():
        optional, mark, _ = key.partition("?")
        name = key.replace("?", "")
        if mark and not any(f"{other}.".startswith(f"{optional}.") for other in arrays):
            continue
        names = [other for other in arrays if fnmatchcase(other, name)] if "*" in name else [name]
        for each in names:
            if each not in arrays:
                return f"no array {each!r}"
            dtype, shape = arrays[each]
            if not _is_declared(dtype[1:], shape, declared, sizes):
                shared = [size.partition("+")[0] for size in declared.split()[1:]]
                known = [f"{size}={sizes[size]}" for size in shared if size in sizes]
                given = f" with {', '.join(known)}" if known else ""
                return f"array {each!r} is {dtype[1:]} {list(shape)}, not {declared}{given}"
    return None


def _is_declared(dtype: str, shape: Sequence[int], declared: str, sizes: dict[str, int]) -> bool:
    """Whether a type and a shape are as declared; notes the sizes that were not known yet."""
    dtypes, *dimensions = declared.split()
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


def form_fault(value: object, form: Form, where: str = "") -> str | None:
    """The first place where a value is not of a form.

    Numbers are at most 2^62, and text can be written as UTF-8 and has no zero bytes, so that it can name a file.

    >>> form_fault({"a": [1, "x"]}, {"a": list[int], "b?": str})
    "'a.1' is text, not a whole number"
    """
    if isinstance(form, types.FunctionType):
        form = form(value)
    if isinstance(form, tuple):
        faults = [form_fault(value, alternative, where) for alternative in form]
        return None if None in faults else faults[0]
    if isinstance(form, Mapping):
        if not isinstance(value, dict):
            return _wrong(value, "an object", where)
        inner: list[tuple[str, object, Form]] = []
        for key, of_key in form.items():
            name = key.removesuffix("?")
            if name == "#" and (odd := next((other for other in value if not _is_whole(other)), None)) is not None:
                return f"{_below(where, odd)!r} is not named by a whole number"
            if name in ("*", "#"):
                inner += [(other, item, of_key) for other, item in value.items()]
            elif name in value:
                inner.append((name, value[name], of_key))
            elif not key.endswith("?"):
                return f"no {_below(where, name)!r}"
    elif getattr(form, "__origin__", None) is tuple:
        kinds = typing.get_args(form)
        if not isinstance(value, list) or len(value) != len(kinds):
            return _wrong(value, f"a list of {len(kinds)}", where)
        inner = [(str(i), item, kind) for i, (item, kind) in enumerate(zip(value, kinds, strict=True))]
    elif isinstance(form, list) or getattr(form, "__origin__", None) is list:
        if not isinstance(value, list):
            return _wrong(value, "a list", where)
        (of_item,) = form if isinstance(form, list) else typing.get_args(form)
        inner = [(str(i), item, of_item) for i, item in enumerate(value)]
    else:
        kinds = typing.get_args(form) if isinstance(form, types.UnionType) else (form,)
        if any(_is_of(value, kind) for kind in kinds):
            return None
        return _wrong(value, " or ".join(_NAMES.get(kind, str(kind)) for kind in kinds), where)
    return next((fault for name, item, of in inner if (fault := form_fault(item, of, _below(where, name)))), None)


def _is_of(value: object, kind: Form) -> bool:
    if kind is str:
        return isinstance(value, str) and "\0" not in value and is_text(value)
    if kind is int or (kind is float and isinstance(value, int)):
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST
    if isinstance(kind, type) and not typing.get_args(kind):
        return isinstance(value, kind)
    return form_fault(value, kind) is None


def _is_whole(text: str) -> bool:
    return re.fullmatch("-?[0-9]{1,18}", text) is not None


def is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8; names of files may contain other bytes."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(value: object, expected: str, where: str) -> str:
    names = {**_NAMES, dict: "an object", list: "a list"}
    found = names.get(type(value), type(value).__name__)
    found = f"no usable {found.removeprefix('a ')}" if found == expected else f"{found}, not {expected}"
    return f"{where!r} is {found}" if where else f"it is {found}"
