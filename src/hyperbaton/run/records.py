"""Values in the JSON files of a run, which may have been edited or truncated: errors are one line.

>>> json_field(Path("results.json"), {"title": 3}, str, "title")
Traceback (most recent call last):
hyperbaton.base.errors.InputError: results.json: 'title' is a whole number, not text; run the experiment again
"""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Form, Json, form_fault
from hyperbaton.run.stage import read_json

PLAN = "plan.json"


def json_field(path: Path, value: Json, form: Form, *keys: str) -> Json:
    """The value under keys in the content of a JSON file, which must have a given form (`base/forms.py`).

    >>> json_field(Path("a.json"), {"b": {"c": [1, 2]}}, list[int], "b", "c")
    [1, 2]
    """
    for key in reversed(keys):
        form = {key: form}
    if fault := form_fault(value, form):
        raise InputError(f"{fault}; run the experiment again", path)
    for key in keys:
        value = value[key]
    return value


class PlannedStage(TypedDict):
    """A stage in the plan of a run: its name and its output folder."""

    stage: str
    folder: str


def read_plan(root: Path) -> list[PlannedStage]:
    """The stages in the plan of a run; each has at least a name and a folder."""
    path = root / PLAN
    if not path.exists():
        raise InputError("the plan of the run is missing; run the experiment again", path)
    rows: list[PlannedStage] = json_field(path, read_json(path), [{"stage": str, "folder": str}])
    if not rows:
        raise InputError("the plan has no stages; run the experiment again", path)
    return rows
