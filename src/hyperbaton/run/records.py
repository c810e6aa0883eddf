"""Values in the JSON files of a run, which may have been edited or cut off: what is not as expected is one line.

>>> json_field(Path("results.json"), {"title": 3}, str, "title")
Traceback (most recent call last):
hyperbaton.base.errors.InputError: results.json: expected a string under 'title', found a whole number; run the experiment \
again
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from hyperbaton.base.errors import InputError
from hyperbaton.run.stage import read_json

PLAN = "plan.json"
T = TypeVar("T")
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string", int: "a whole number", float: "a number"}


def json_field(path: Path, value: Any, kind: type[T], *keys: str | int) -> T:
    """The value under keys of what a JSON file has, of this kind; whole numbers are numbers, too.

    >>> json_field(Path("a.json"), {"b": {"c": [1, 2]}}, list, "b", "c")
    [1, 2]
    """
    for n, key in enumerate((*keys, None)):
        where = ".".join(map(str, keys[:n]))
        wanted = kind if key is None else list if isinstance(key, int) else dict
        is_number = wanted is float and isinstance(value, int)
        if isinstance(value, bool) or not (is_number or isinstance(value, wanted)):
            found = "nothing" if value is None else _KINDS.get(type(value), repr(value))
            under = f" under {where!r}" if where else ""
            raise InputError(f"expected {_KINDS[wanted]}{under}, found {found}; run the experiment again", path)
        if key is not None:
            value = value[key] if isinstance(key, int) else value.get(key)
    found_value: T = value
    return found_value


def read_plan(root: Path) -> list[dict[str, Any]]:
    """The stages in the plan of a run; each has at least a name and a folder."""
    path = root / PLAN
    rows: list[dict[str, Any]] = json_field(path, read_json(path), list)
    for n in range(len(rows)):
        for key in ("stage", "folder"):
            json_field(path, rows, str, n, key)
    if not rows:
        raise InputError("the plan has no stages; run the experiment again", path)
    return rows
