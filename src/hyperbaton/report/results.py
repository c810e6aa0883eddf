"""results.json: everything measured in a run, in one file. `docs/report.md` lists its keys."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Form, JsonObject, form_fault

RESULTS = "results.json"
_LISTS = {"orientation", "next_position", "step", "translation", "costs", "sentences", "findings", "warnings"}
_OBJECTS = {"signature", "options", "commands", "corpus", "movement", "tuning", "tuned", "stages"}


def _maybe(form: Form) -> Form:
    return (form, type(None))


_NUMBERS = _maybe({"*": float | None})
_BY_DISTANCE = _maybe({"#": float | None})
_EVALUATION = {
    "model": str,
    "orientations?": str | None,
    "f1?": _NUMBERS,
    "by_direction?": _maybe({"*": _NUMBERS}),
    "precision_by_support?": _NUMBERS,
    "n_by_support?": _NUMBERS,
    "clusters?": _maybe({"*": ({"n?": float | None, "precision?": float | None}, float | None)}),
    "translation?": _NUMBERS,
    "siblings?": _maybe([dict]),
    **{f"{name}_probability?": _BY_DISTANCE for name in ("average", "corpus", "far_average", "far_corpus")},
    **{f"{name}_by_distance?": _BY_DISTANCE for name in ("precision", "n", "accuracy", "mean_logprob", "logprob")},
}
_SCORE = (float | None, {"value?": float | None, "interval?": _maybe(tuple[float, float]), "deviation?": float | None})
_SEGMENT = {"source": tuple[int, int], "target?": _maybe((str, list)), "scores?": _NUMBERS}
# The form described in `docs/report.md`, as far as the report depends on it. Anything but names may be missing.
_FORM: dict[str, Form] = {
    "signature": {"libraries?": _maybe(dict), "inputs?": _maybe({"*": {}})},
    "commands": {"*": _maybe(list)},
    "corpus": {"*": {}},
    "movement": {
        "distances?": _BY_DISTANCE,
        "word_distortions?": _BY_DISTANCE,
        "orientations?": _maybe({"*": {"*": float}}),
        "jumps_by_tag?": _maybe({"*": _BY_DISTANCE}),
    },
    "orientation": [_EVALUATION],
    "next_position": [_EVALUATION],
    "step": [_EVALUATION],
    "translation": [
        {
            "system": str,
            "limit?": int | None,
            "scores?": _maybe({"*": _SCORE}),
            "significance?": _maybe({"*": _maybe({"*": _maybe({})})}),
        }
    ],
    "stages": {"*": [dict]},
    "tuning": {"*": [{"iteration": int}]},
    "tuned": {
        "*": {
            "iteration?": int | None,
            "averaged?": _maybe([int]),
            "score?": float | None,
            "stopped?": str | None,
            "failure?": str | None,
        }
    },
    "costs": [{"stage": str, "kind?": str | None}],
    "sentences": [
        {
            "limit?": int | None,
            "differs?": str | None,
            "source": list,
            "reference?": _maybe(list),
            "tags?": _maybe(list),
            "hypotheses?": _maybe([{"system": str, "segments?": _maybe([_SEGMENT])}]),
        }
    ],
}


def read_results(path: str | PathLike[str]) -> JsonObject:
    """Read the results of a run, from its folder or from the file itself."""
    path = Path(path)
    if path.is_dir():
        path = path / RESULTS
    if not path.exists():
        raise InputError(f"there is no {RESULTS}; 'hyperbaton run' writes it at its end", path=path)
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
    given = {key: value for key, value in results.items() if value not in (None, [], {})}
    for key, form in _FORM.items():
        if key in given and (fault := form_fault(given[key], form, key)) is not None:
            raise InputError(
                f"{key!r} in the results does not have the form described in docs/report.md: {fault}", path=path
            )
    return given
