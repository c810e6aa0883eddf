"""The page at `/docs`: the content of `/openapi.json` for people, as plain HTML without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from hyperbaton.base.forms import Json
from hyperbaton.explore.page import styles

_EXAMPLES = {
    "/v1/translate": {"text": "Das ist ein Buch.", "source": "de", "target": "en"},
    "/v1/align": {"source": "das Buch", "target": "the book"},
}


def reference_page(description: Mapping[str, Json]) -> str:
    """An OpenAPI description as HTML: each path with its fields and answers, then the schemas they name."""
    info = description["info"]
    paths = description["paths"]
    body = "".join(
        _operation(path, method, operation) for path, methods in paths.items() for method, operation in methods.items()
    )
    schemas = "".join(
        f'<h2 id="{escape(name)}">{escape(name)}</h2>{_fields(schema)}'
        for name, schema in description["components"]["schemas"].items()
    )
    contents = "".join(f'<li><a href="#{escape(_anchor(path))}">{escape(path)}</a></li>' for path in paths)
    title = f"{escape(info['title'])} {escape(info['version'])}: interface for programs"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="icon" href="data:,"><style>{styles()}</style></head><body>'
        f'<header><h1>{title}</h1></header><main><p>Requests and answers are JSON. <a href="openapi.json">openapi.json</a> '
        'describes the same for programs, and <a href="./">the start page</a> translates by hand.</p>'
        f"<ul>{contents}</ul>{body}{schemas}</main></body></html>\n"
    )


def _anchor(path: str) -> str:
    return path.strip("/").replace("/", "-")


def _operation(path: str, method: str, operation: Mapping[str, Json]) -> str:
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    example = json.dumps(_EXAMPLES.get(path, {}), ensure_ascii=False)
    answers = [
        (status, escape(answer["description"]), _type(answer["content"]["application/json"]["schema"]))
        for status, answer in operation["responses"].items()
    ]
    return (
        f'<h2 id="{escape(_anchor(path))}">{escape(method.upper())} {escape(path)}</h2>'
        f"<p>{escape(operation['summary'])}</p>"
        f"<pre>curl localhost:8080{escape(path)} -H 'Content-Type: application/json' -d '{escape(example)}'</pre>"
        f"{_fields(body)}{_table(('status', 'meaning', 'answer'), answers)}"
    )


def _fields(schema: Mapping[str, Json]) -> str:
    required = schema.get("required", ())
    rows = [
        (f"<code>{escape(name)}</code>{' (required)' if name in required else ''}", _type(field), _about(field))
        for name, field in schema.get("properties", {}).items()
    ]
    return _table(("field", "type", "meaning"), rows)


def _about(field: Mapping[str, Json]) -> str:
    parts = [field["description"]] if "description" in field else []
    parts += [f"{name}: {field[key]}" for key, name in _LIMITS.items() if field.get(key) is not None]
    parts += [f"one of {', '.join(map(str, field['enum']))}"] if "enum" in field else []
    return escape("; ".join(parts))


_LIMITS = {"default": "default", "minimum": "at least", "maximum": "at most"}


def _type(schema: Mapping[str, Json]) -> str:
    """Describe a type, as HTML."""
    if "$ref" in schema:
        name = escape(str(schema["$ref"]).rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "oneOf" in schema:
        return " or ".join(map(_type, schema["oneOf"]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    if kind == "object" and "properties" in schema:
        return f"object with {', '.join(_named(schema['properties']))}"
    return escape(str(kind))


def _named(fields: Mapping[str, Json]) -> Iterator[str]:
    return (f"<code>{escape(name)}</code>" for name in fields)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table class="reference"><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>'
