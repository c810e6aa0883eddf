"""results.json: everything that a run measured, in one file. `docs/report.md` names its keys."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from hyperbaton.base.errors import InputError

RESULTS = "results.json"
_LISTS = {"orientation", "next_position", "step", "translation", "costs", "sentences", "findings"}
_OBJECTS = {"signature", "options", "commands", "corpus", "movement", "tuning", "stages"}


def read_results(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the results of a run, from its folder or from the file itself."""
    path = Path(path)
    if path.is_dir():
        path = path / RESULTS
    if not path.exists():
        raise InputError(f"no {RESULTS} there; 'hyperbaton run' writes it at its end", path=path)
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path=path, line=error.lineno) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", path=path) from None
    except RecursionError:
        raise InputError("lists or objects are nested too deeply", path=path) from None
    if not isinstance(results, dict) or not isinstance(results.get("title"), str):
        raise InputError("expected an object with a title, as 'hyperbaton run' writes", path=path)
    for keys, kind, name in ((_LISTS, list, "a list"), (_OBJECTS, dict, "an object")):
        for key in keys & results.keys():
            if results[key] is not None and not isinstance(results[key], kind):
                raise InputError(f"expected {name} under {key!r}, found {type(results[key]).__name__}", path=path)
    return {key: value for key, value in results.items() if value not in (None, [], {})}
