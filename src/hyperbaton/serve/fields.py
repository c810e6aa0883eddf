"""Fields of requests, declared once as structs of msgspec: they check JSON, forms and queries, and describe themselves.

>>> class Fields(Struct):
...     nbest: int = 0
>>> read_fields(Fields, {"nbest": "7", "other": 1})
Fields(nbest=7)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import fields
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.serve.options import Refusal

Names = str | list[str]
Tokens = list[str | list[str]]
_EXPECTED = {
    str: "a string",
    Names: "a string or a list of strings",
    Tokens: "a list of tokens, or of lists of tokens",
    int: "a whole number",
    bool: "true or false",
    dict[str, Any]: "an object",
    list[dict[str, Any]]: "a list of objects",
}
_SWITCHES = {"yes": True, "on": True, "no": False, "off": False, "": False}
MOST_FIELDS = 1100  # in a form, by default
LONGEST_HEAD = 1000  # bytes of a header of a part of a form
S = TypeVar("S", bound=Struct)
fields_of = cache(fields)  # which evaluates the annotations of a struct, a third of the time of a short request


@cache
def _switches(form: type[Struct]) -> list[str]:
    """The names of the fields that are true or false."""
    return [field.encode_name for field in fields_of(form) if bool in (field.type, *get_args(field.type)[:1])]


class Upload(NamedTuple):
    """A file in a form, in the field `file`."""

    name: str
    content: bytes


def read_fields(form: type[S], values: Mapping[str, Json]) -> S:
    """The values of declared fields; null means that a field is missing, and other fields are ignored."""
    given = {name: value for name, value in values.items() if value is not None}
    for name in _switches(form):
        if isinstance(value := given.get(name), str):
            given[name] = _SWITCHES.get(value.lower(), value)
    try:
        checked = convert(given, form, strict=False)
    except ValidationError as error:
        raise Refusal(400, _reason(form, str(error))) from None
    for field in fields_of(form):
        value = given.get(field.encode_name)
        if isinstance(value, list) and len({type(item) for item in value}) > 1:
            raise Refusal(400, f"{field.encode_name} must be {_EXPECTED[Tokens]}")
    return checked


def _reason(form: type[Struct], message: str) -> str:
    """Why a value was refused, in terms of the declaration of its field."""
    match = re.search(r"field `([^`]+)`|`\$\.([^`\[.]+)", message)
    name = (match[1] or match[2]) if match else ""
    field = next((field for field in fields_of(form) if field.encode_name == name), None)
    if field is None:
        return message
    kind = get_type_hints(form)[field.name]
    limits = next((item for item in get_args(field.type) if isinstance(item, Meta)), Meta())
    if match is not None and match[1]:
        return f"{name} is missing: {limits.description}"
    kinds = [kind] if get_origin(kind) is Literal else [part for part in get_args(kind) if part is not type(None)]
    if any(get_origin(part) is Literal for part in kinds):
        return f"{name} must be one of {', '.join(choice for part in kinds for choice in get_args(part))}"
    if "Expected `int` " in message:
        return f"{name} must be between {limits.ge} and {limits.le}"
    return f"{name} must be {_EXPECTED[reduce(or_, kinds) if type(None) in get_args(kind) else kind]}"


def about(help: str, least: int | None = None, most: int | None = None) -> Meta:
    """The meaning of a field, and the limits of a number."""
    return Meta(description=help, ge=least, le=most)


def as_list(value: Names | None) -> list[str]:
    """Return a list of strings; a single string may be given without a list."""
    return [value] if isinstance(value, str) else value or []


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
        pairs = parse_qsl(query.decode("utf-8"), keep_blank_values=True, encoding="utf-8", errors="strict")
    except ValueError as error:
        raise Refusal(400, "the form is not valid, or not in UTF-8") from error
    return _grouped(pairs)


def _parse_json(body: bytes) -> JsonObject:
    try:
        values = json.loads(body.decode("utf-8-sig"))
        if b"\\u" in body:  # no response could contain an unpaired surrogate
            json.dumps(values, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(400, "the body is not valid UTF-8") from error
    except UnicodeEncodeError as error:
        raise Refusal(400, "the text is not valid Unicode: it contains an unpaired surrogate") from error
    except RecursionError as error:
        raise Refusal(400, "the JSON is nested too deeply") from error
    except ValueError as error:
        raise Refusal(400, f"the body is not valid JSON: {str(error)[:100]}") from error
    if not isinstance(values, dict):
        raise Refusal(400, "the body must be a JSON object")
    return values


def _parse_multipart(content_type: str, body: bytes, most: int) -> list[tuple[str, str | Upload]]:
    """Names and values of multipart/form-data; a nested multipart is an ordinary value, and so is a file elsewhere than in
    the field `file`."""
    pairs: list[tuple[bytes, bytes | Upload]] = []
    ended: list[bool] = []

    def keep(part: Field | File) -> None:
        if len(pairs) == most:
            raise _too_many_fields(most)
        if isinstance(part, File):
            part.file_object.seek(0)
        value = (part.value if isinstance(part, Field) else part.file_object.read()) or b""
        is_upload = isinstance(part, File) and part.field_name == b"file"
        name = (part.file_name or b"").decode("utf-8", "replace") if isinstance(part, File) else ""
        pairs.append((part.field_name or b"", Upload(name, value) if is_upload else value))

    limits = {"MAX_HEADER_SIZE": LONGEST_HEAD, "MAX_MEMORY_FILE_SIZE": len(body) + 1, "UPLOAD_ERROR_ON_BAD_CTE": True}
    boundary = parse_options_header(content_type[:LONGEST_HEAD])[1].get(b"boundary")
    try:
        if boundary is None:
            raise FormParserError("its boundary is missing")
        parser = FormParser("multipart/form-data", keep, keep, lambda: ended.append(True), boundary, config=limits)
        parser.write(body)
        parser.finalize()
        if not ended:
            raise FormParserError("its end is missing")
        return [
            (name.decode("utf-8"), value if isinstance(value, Upload) else value.decode("utf-8")) for name, value in pairs
        ]
    except FormParserError as error:
        raise Refusal(400, f"the form is not valid multipart/form-data: {str(error)[:100]}") from error
    except UnicodeDecodeError as error:
        raise Refusal(400, "the form is not valid UTF-8") from error


def _too_many_fields(most: int) -> Refusal:
    return Refusal(413, f"a form may have at most {most} fields")


def _grouped(pairs: Sequence[tuple[str, str | Upload]]) -> JsonObject:
    values: dict[str, list[str | Upload]] = {}
    for name, value in pairs:
        values.setdefault(name.removesuffix("[]"), []).append(value)
    return {name: given[0] if len(given) == 1 else given for name, given in values.items()}
