"""The OpenAPI description of the service's own interface, from the fields that validate its requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from hyperbaton.serve.fields import Field

_ERRORS = {
    "400": "The request is invalid: the message says why.",
    "403": "A key is required.",
    "408": "The request was not received in time.",
    "413": "There is too much text.",
    "429": "Too many requests are waiting: try again after Retry-After seconds.",
    "504": "The translation took too long.",
}
_SUMMARIES = {
    "/v1/translate": "Translate text, and explain how the translation was built.",
    "/v1/align": "Link the words of a sentence pair.",
}
_SPAN = {"type": "array", "items": {"type": "integer"}, "description": "first, and one past the last"}
_SCORES = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}}
_WEIGHTED = {"type": "object", "additionalProperties": {"type": "number"}}
_TOKENS = {"type": "array", "items": {"type": "string"}}
_PATH: dict[str, object] = {
    "target": _TOKENS,
    "text": {"type": "string"},
    "score": {"type": "number"},
    "features": _SCORES,
    "weighted": _WEIGHTED,
    "phrases": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "source": _SPAN,
                "target": _SPAN,
                "distance": {"type": "integer", "description": "end of the previous phrase minus begin of this one"},
                "rule": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "both sides, in a system with rules; spans include the content of gaps",
                },
                "kind": {"type": "string", "description": "rule, unknown, demanded or glue"},
                "parent": {"type": "integer", "description": "the number of the rule whose gap it fills, or -1"},
                "features": _SCORES,
                "weighted": _WEIGHTED,
            },
        },
    },
}
SCHEMAS: dict[str, object] = {
    "Path": {"type": "object", "properties": _PATH | {"confidence": {"type": "number"}}},
    "Sentence": {
        "type": "object",
        "properties": {
            "source": _TOKENS,
            "tags": _TOKENS,
            **_PATH,
            "links": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "source": {"type": "integer"},
                        "target": {"type": "integer"},
                        "confidence": {"type": "number"},
                    },
                },
            },
            "confidence": {"type": "number", "description": "share of the probability mass of the n-best list"},
            "limits_lifted": {"type": "boolean"},
            "end": _SCORES,
            "search": {"type": "object", "additionalProperties": {"type": "integer"}},
            "nbest": {"type": "array", "items": {"$ref": "#/components/schemas/Path"}},
            "expectations": {
                "type": "array",
                "description": "for each phrase, what each reordering model expected",
                "items": {"type": "array", "items": {"$ref": "#/components/schemas/Expectation"}},
            },
        },
    },
    "Expectation": {
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "shape": {"type": "string", "enum": ["orientation", "next_position", "step"]},
            "side": {"type": "string", "enum": ["before", "after"]},
            "span": _SPAN,
            "classes": _WEIGHTED,
            "from": {"type": "integer"},
            "words": {"description": "probabilities: a list over source words and the end, or an object by source word"},
            "chosen": {"description": "the class, or the source word"},
            "reasons": {
                "type": "object",
                "description": "class or source word → its heaviest features, [name, weight] each",
            },
        },
    },
    "Translation": {
        "type": "object",
        "properties": {
            "translations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "tokens": _TOKENS,
                        "sentences": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}},
                    },
                    "required": ["text"],
                },
            },
            "reference": {"type": "array", "items": {"$ref": "#/components/schemas/Sentence"}},
            "conflicts": {"type": "array", "items": {"type": "string"}},
            "source": {"type": "string"},
            "target": {"type": "string"},
            "system": {"type": "string"},
            "seconds": {"type": "number"},
        },
        "required": ["translations", "source", "target", "system", "seconds"],
    },
    "Alignment": {
        "type": "object",
        "properties": {
            "alignment": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            "confidences": {"type": "array", "items": {"type": "number"}},
        },
    },
    "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
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
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": what, "content": content}
