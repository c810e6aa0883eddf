"""Fields of requests, declared once: they validate JSON, forms and queries, and describe themselves for OpenAPI.

>>> Field("nbest", "integer", "translations of each sentence", 0, maximum=100).read({"nbest": "7"})
7
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.serve.refusal import Refusal

_TYPES: JsonObject = {
    "string": {"type": "string"},
    "strings": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "tokens": {
        "oneOf": [
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        ]
    },
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "object": {"type": "object"},
    "array": {"type": "array", "items": {"type": "object"}},
}
_NAMES = {
    "string": "a string",
    "strings": "a string or a list of strings",
    "tokens": "a list of tokens, or of lists of tokens",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list of objects",
}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")
MOST_FIELDS = 1100  # in a form, by default
LONGEST_HEAD = 1000  # bytes of the header of a form or of one of its parts
_NAME = re.compile(r';\s*+name="([^"\r\n]*+)"', re.IGNORECASE)
_BOUNDARY = re.compile(r';\s*+boundary=(?:"([^"]{1,200}+)"|([^\s";]{1,200}+))', re.IGNORECASE)
_ENCODING = re.compile(r"^content-transfer-encoding:\s*+(?!(?:7bit|8bit|binary)\s*$)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """A field of a request: its name, type, meaning and valid values."""

    name: str
    kind: str
    help: str
    default: Json = None
    minimum: int | None = None
    maximum: int | None = None
    choices: Sequence[str] | None = None
    required: bool = False

    def read(self, values: Mapping[str, Json]) -> Json:
        """The value of the field; null means that it is missing."""
        value = values.get(self.name)
        if value is None:
            if self.required:
                raise Refusal(400, f"{self.name} is missing: {self.help}")
            return self.default
        value = self._converted(value)
        if self.choices is not None and value not in self.choices:
            raise Refusal(400, f"{self.name} must be one of {', '.join(self.choices)}")
        if self.kind == "integer":
            low, high = self.minimum or 0, self.maximum if self.maximum is not None else 2**31 - 1
            if not low <= value <= high:
                raise Refusal(400, f"{self.name} must be between {low} and {high}")
        return value

    def _converted(self, value: Json) -> Json:
        kind = self.kind
        if kind == "integer" and isinstance(value, str) and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            value = int(value[:12])
        if kind == "boolean" and isinstance(value, str) and value.lower() in (*_TRUE, *_FALSE):
            value = value.lower() in _TRUE
        if kind == "boolean" and isinstance(value, int) and value in (0, 1):
            value = bool(value)
        if not _is_kind(value, kind):
            raise Refusal(400, f"{self.name} must be {_NAMES[kind]}")
        if kind == "strings" and isinstance(value, str):
            value = [value]
        return value

    def schema(self) -> JsonObject:
        """The field in OpenAPI's format."""
        schema = dict(_TYPES[self.kind]) | {"description": self.help}
        extra = {"default": self.default, "minimum": self.minimum, "maximum": self.maximum, "enum": self.choices}
        return schema | {name: value for name, value in extra.items() if value is not None}


def _is_kind(value: Json, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "strings":
        return isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))
    if kind == "tokens":
        return isinstance(value, list) and (
            all(isinstance(v, str) for v in value)
            or all(isinstance(v, list) and all(isinstance(t, str) for t in v) for v in value)
        )
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "object":
        return isinstance(value, dict)
    return isinstance(value, list) and all(isinstance(v, dict) for v in value)


def read_fields(fields: Sequence[Field], values: Mapping[str, Json]) -> JsonObject:
    """The values of fields, by name; other fields are ignored."""
    return {field.name: field.read(values) for field in fields}


def parse_body(content_type: str, body: bytes, most: int = MOST_FIELDS) -> JsonObject:
    """The values of a body, by name: JSON, or a form of at most `most` fields, where repeated fields become lists."""
    if not body.strip():
        return {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return _grouped(_parse_multipart(content_type, body, most))
    if kind == "application/json" or kind.endswith("+json") or (not kind and body.lstrip()[:1] == b"{"):
        return _parse_json(body)
    if kind in ("application/x-www-form-urlencoded", "text/plain", ""):
        return parse_query(body, most)
    raise Refusal(415, f"the body must be JSON or a form, not {kind[:60]}")


def parse_query(query: bytes, most: int = MOST_FIELDS) -> JsonObject:
    """The fields of a query string or a form."""
    if query.count(b"&") >= most:
        raise _too_many_fields(most)
    try:
        pairs = parse_qsl(
            query.decode("ascii" if query.isascii() else "utf-8"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
        )
    except ValueError as error:
        raise Refusal(400, "the form is not valid, or not in UTF-8") from error
    return _grouped(pairs)


def _parse_json(body: bytes) -> JsonObject:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(400, "the body is not valid UTF-8") from error
    try:
        values = json.loads(text)
    except RecursionError as error:
        raise Refusal(400, "the JSON is nested too deeply") from error
    except ValueError as error:
        raise Refusal(400, f"the body is not valid JSON: {str(error)[:100]}") from error
    if not isinstance(values, dict):
        raise Refusal(400, "the body must be a JSON object")
    _check_unicode(values)
    return values


def _check_unicode(values: Json) -> None:
    """Refuse JSON escapes of unpaired surrogates, which no response could contain."""
    try:
        json.dumps(values, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refusal(400, "the text is not valid Unicode: it contains an unpaired surrogate") from error
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "the JSON is nested too deeply, or has a number that is too long") from error


def _parse_multipart(content_type: str, body: bytes, most: int) -> list[tuple[str, str]]:
    """Names and values of multipart/form-data (RFC 7578); a nested multipart is an ordinary value."""
    boundary = _BOUNDARY.search(content_type[:LONGEST_HEAD])
    if boundary is None:
        raise Refusal(400, "the form is not valid multipart/form-data: its boundary is missing")
    mark = b"\r\n--" + (boundary[1] or boundary[2]).encode("latin-1")
    parts = (b"\r\n" + body).split(mark, most + 2)
    if len(parts) > most + 2:
        raise _too_many_fields(most)
    if len(parts) < 3 or not parts[-1].startswith(b"--"):
        raise Refusal(400, "the form is not valid multipart/form-data: its end is missing")
    pairs = []
    for part in parts[1:-1]:
        head, found, value = part.partition(b"\r\n\r\n")
        if not found or len(head) > LONGEST_HEAD:
            raise Refusal(400, "the form is not valid multipart/form-data: a part has no header, or a long one")
        try:
            header = head.decode("utf-8")
            name = _NAME.search(header)
            if _ENCODING.search(header.replace("\r\n", "\n")):
                raise Refusal(400, "a part of the form is encoded: send it unencoded, in UTF-8")
            if name is not None:
                pairs.append((name[1], value.decode("utf-8")))
        except UnicodeDecodeError as error:
            raise Refusal(400, "the form is not valid UTF-8") from error
    return pairs


def _too_many_fields(most: int) -> Refusal:
    return Refusal(413, f"a form may have at most {most} fields")


def _grouped(pairs: Sequence[tuple[str, str]]) -> JsonObject:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name.removesuffix("[]"), []).append(value)
    return {name: own[0] if len(own) == 1 else own for name, own in values.items()}
