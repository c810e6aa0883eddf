"""The OpenAPI description of the service's own interface, from the fields that validate its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from hyperbaton.base.forms import JsonObject as Schema
from hyperbaton.serve.fields import Field

_ERRORS = {
    "400": "The request is invalid: the message says why.",
    "403": "A key is required.",
    "408": "The request was not received in time.",
    "413": "The request contains too much text.",
    "429": "Too many requests are waiting: try again after Retry-After seconds.",
    "504": "The translation took too long.",
}
_SUMMARIES = {
    "/v1/translate": "Translate text, and explain how the translation was built.",
    "/v1/align": "Link the words of a sentence pair.",
}


def _list(items: Schema, **more: object) -> Schema:
    return {"type": "array", **more, "items": items}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _by_name(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _ref(schema: str) -> Schema:
    return {"$ref": f"#/components/schemas/{schema}"}


_STRING, _INTEGER, _NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
_SPAN = _list(_INTEGER) | {"description": "first, and one past the last"}
_SCORES, _WEIGHTED, _TOKENS = _by_name(_list(_NUMBER)), _by_name(_NUMBER), _list(_STRING)
_PHRASE = _object(
    source=_SPAN,
    target=_SPAN,
    distance=_INTEGER | {"description": "end of the previous phrase minus begin of this one"},
    rule=_TOKENS | {"description": "both sides, in a system with rules; spans include the content of gaps"},
    kind=_STRING | {"description": "rule, unknown, demanded or glue"},
    parent=_INTEGER | {"description": "the number of the rule whose gap it fills, or -1"},
    features=_SCORES,
    weighted=_WEIGHTED,
)
_PATH: Schema = {
    "target": _TOKENS,
    "text": _STRING,
    "score": _NUMBER,
    "features": _SCORES,
    "weighted": _WEIGHTED,
    "phrases": _list(_PHRASE),
}
SCHEMAS: Schema = {
    "Path": _object(**_PATH, confidence=_NUMBER),
    "Sentence": _object(
        source=_TOKENS,
        tags=_TOKENS,
        **_PATH,
        links=_list(_object(source=_INTEGER, target=_INTEGER, confidence=_NUMBER)),
        confidence=_NUMBER | {"description": "share of the probability mass of the n-best list"},
        limits_lifted={"type": "boolean"},
        end=_SCORES,
        search=_by_name(_INTEGER),
        nbest=_list(_ref("Path")),
        expectations=_list(_list(_ref("Expectation")), description="for each phrase, what each reordering model expected"),
    ),
    "Expectation": _object(
        model=_STRING,
        shape=_STRING | {"enum": ["orientation", "next_position", "step"]},
        side=_STRING | {"enum": ["before", "after"]},
        span=_SPAN,
        classes=_WEIGHTED,
        **{"from": _INTEGER},
        words={"description": "probabilities: a list over source words and the end, or an object by source word"},
        chosen={"description": "the class, or the source word"},
        reasons={"type": "object", "description": "class or source word → its heaviest features, [name, weight] each"},
    ),
    "Translation": _object(
        translations=_list(
            _object(text=_STRING, tokens=_TOKENS, sentences=_list(_ref("Sentence"))) | {"required": ["text"]}
        ),
        reference=_list(_ref("Sentence")),
        conflicts=_list(_STRING),
        source=_STRING,
        target=_STRING,
        system=_STRING,
        seconds=_NUMBER,
    )
    | {"required": ["translations", "source", "target", "system", "seconds"]},
    "Alignment": _object(alignment=_list(_list(_INTEGER)), confidences=_list(_NUMBER)),
    "Error": _object(error=_STRING) | {"required": ["error"]},
}
_ANSWERS = {"/v1/translate": "Translation", "/v1/align": "Alignment"}


def describe(requests: Mapping[str, Sequence[Field]]) -> dict[str, object]:
    """Describe paths, each with the fields of its requests."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "hyperbaton", "version": version("hyperbaton"), "license": {"name": "Apache-2.0"}},
        "paths": {path: {"post": _operation(path, fields)} for path, fields in requests.items()},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(path: str, fields: Sequence[Field]) -> dict[str, object]:
    properties = {field.name: field.schema() for field in fields}
    required = [field.name for field in fields if field.required]
    body = {"type": "object", "properties": properties} | ({"required": required} if required else {})
    return {
        "summary": _SUMMARIES[path],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": _response("Done.", _ANSWERS[path]),
            **{status: _response(what, "Error") for status, what in _ERRORS.items()},
        },
    }


def _response(what: str, schema: str) -> dict[str, object]:
    content = {"application/json": {"schema": _ref(schema)}}
    return {"description": what, "content": content}
