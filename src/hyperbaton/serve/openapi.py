"""The OpenAPI description of all paths of the service.

Paths, answers and examples are in `templates/openapi.json`; requests are described by the structs that check them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files

from msgspec import Struct
from msgspec.json import schema

from hyperbaton.base.forms import JsonObject

MULTIPART, XML, JSON = "multipart/form-data", "text/xml", "application/json"


def describe(requests: Mapping[str, type[Struct]]) -> JsonObject:
    """Describe paths; `requests` has the fields of those that take some."""
    text = files(__package__).joinpath("templates", "openapi.json").read_text(encoding="utf-8")
    description: JsonObject = json.loads(text)
    description["info"]["version"] = version("hyperbaton")
    refusals = description.pop("refusals")
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            answer, example = operation.pop("answer"), operation.pop("example", None)
            operation["responses"] = {"200": _answer("Done.", answer)}
            error = {"$ref": "#/components/schemas/Error"}
            operation["responses"] |= {status: _answer(what, error) for status, what in refusals.items()}
            if method == "post" and path in requests:
                kind = JSON if not isinstance(example, str) else MULTIPART if example.startswith("-F") else XML
                described = schema(requests[path])
                fields = described["$defs"][described["$ref"].rpartition("/")[2]]
                if kind == MULTIPART:
                    fields["properties"] = {"file": {"type": "string", "format": "binary"}} | fields["properties"]
                operation["requestBody"] = {"required": True, "content": {kind: {"schema": fields}}}
            operation["x-curl"] = _curl(method, path, example)
    return description


def _answer(what: str, schema: JsonObject) -> JsonObject:
    return {"description": what, "content": {JSON: {"schema": schema}}}


def _curl(method: str, path: str, example: JsonObject | str | None) -> str:
    """A command that calls a path; the address and the languages are filled in for a service."""
    words = "" if method in ("get", "post") else f" -X {method.upper()}"
    if isinstance(example, str):
        words += f" {example}"
    elif example is not None or method == "post":
        words += f" -H 'Content-Type: {JSON}' -d '{json.dumps(example or {}, ensure_ascii=False)}'"
    return f"curl {{address}}{path}{words}"
