"""DeepL, version 2: /v2/translate, /v2/languages, /v2/usage, /v2/glossaries.

Glossaries live as long as the service; each belongs to the key that created it.
"""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.glossary import Glossary
from hyperbaton.decode.raw_structure import HTML, PLAIN, XML, TextFormat
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Field, read_fields
from hyperbaton.serve.languages import base_code, name_of
from hyperbaton.serve.refusal import Refusal
from hyperbaton.serve.service import Call, Service

MOST_GLOSSARIES, MOST_ENTRIES = 200, 10_000
UNLIMITED = 1_000_000_000_000  # characters: clients expect a limit
# The regions that clients request; DeepL's libraries refuse English and Portuguese without one.
REGIONS = {"EN": ("EN-US", "EN-GB"), "PT": ("PT-BR", "PT-PT"), "ZH": ("ZH", "ZH-HANS")}
SPLIT = ("0", "1", "nonewlines", "on", "off", "all", "default")
FORMATS = {"xml": XML, "html": HTML}

TRANSLATE = (
    Field("text", "strings", "text or texts to translate", required=True),
    Field("target_lang", "string", "language of the translation", required=True),
    Field("source_lang", "string", "language of the text; detected if missing"),
    Field(
        "split_sentences",
        "string",
        "1: split at punctuation and newlines; nonewlines: only at punctuation; 0: do not split",
        choices=SPLIT,
    ),
    Field("tag_handling", "string", "xml or html if the text has tags", choices=tuple(FORMATS)),
    Field("tag_handling_version", "string", "v2 refuses XML that is not well-formed", "v1", choices=("v1", "v2")),
    Field("outline_detection", "boolean", "false: only splitting_tags split XML into sentences", True),
    Field("splitting_tags", "strings", "comma-separated names of tags that split sentences", ()),
    Field("non_splitting_tags", "strings", "names of tags that do not split sentences", ()),
    Field("ignore_tags", "strings", "names of tags whose content is not translated", ()),
    Field("glossary_id", "string", "a glossary whose terms are forced"),
)
GLOSSARY = (
    Field("name", "string", "name of the glossary", required=True),
    Field("source_lang", "string", "language of the terms", required=True),
    Field("target_lang", "string", "language of their translations", required=True),
    Field("entries", "string", "terms and translations", required=True),
    Field("entries_format", "string", "format of the entries", "tsv", choices=("tsv", "csv")),
)


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary of a client."""

    glossary_id: str
    owner: str
    name: str
    source: str
    target: str
    created: str
    entries: list[tuple[str, str]]
    terms: Glossary

    def as_json(self) -> JsonObject:
        return {
            "glossary_id": self.glossary_id,
            "name": self.name,
            "ready": True,
            "source_lang": self.source,
            "target_lang": self.target,
            "creation_time": self.created,
            "entry_count": len(self.entries),
        }


class DeepL(Dialect):
    """The interface of DeepL, for its libraries (`server_url`)."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._glossaries: dict[str, StoredGlossary] = {}
        self._lock = Lock()

    def routes(self) -> list[Route]:
        return [
            self.route("/v2/translate", ["POST", "GET"], self.translate),
            self.route("/v2/languages", ["GET", "POST"], self.languages),
            self.route("/v2/usage", ["GET", "POST"], self.usage),
            self.route("/v2/glossary-language-pairs", ["GET"], self.glossary_pairs),
            self.route("/v2/glossaries", ["POST"], self.create_glossary),
            self.route("/v2/glossaries", ["GET"], self.list_glossaries),
            self.route("/v2/glossaries/{id}", ["GET"], self.get_glossary),
            self.route("/v2/glossaries/{id}", ["DELETE"], self.delete_glossary),
            self.route("/v2/glossaries/{id}/entries", ["GET"], self.glossary_entries),
        ]

    def error(self, refusal: Refusal) -> Response:
        return JSONResponse({"message": str(refusal)}, refusal.status, refusal.headers)

    async def translate(self, call: Call) -> Response:
        asked = read_fields(TRANSLATE, await call.values())
        texts = asked["text"]
        engine = await call.engine(asked["source_lang"], asked["target_lang"], texts)
        glossary = None
        if asked["glossary_id"]:
            stored = self._glossary(call, asked["glossary_id"])
            if (stored.source, stored.target) != (engine.source, engine.target):
                raise Refusal(400, f"the glossary is for {stored.source}-{stored.target}, not {engine.pair}")
            if asked["source_lang"] is None:
                raise Refusal(400, "a glossary needs source_lang")
            glossary = stored.terms.copy()
        request = EngineRequest(
            EngineAnswer.texts,
            texts,
            form=_format(asked),
            glossary=glossary,
        )
        found = await call.translate(engine, request)
        rows = [
            {"detected_source_language": engine.source.upper(), "text": text, "billed_characters": len(source)}
            for source, text in zip(texts, found, strict=True)
        ]
        return JSONResponse({"translations": rows})

    async def languages(self, call: Call) -> Response:
        asked = (await call.values()).get("type", "source")
        if asked not in ("source", "target"):
            raise Refusal(400, "type must be source or target")
        engines = self.service.engines
        if asked == "source":
            codes = [engine.source.upper() for engine in engines]
        else:
            codes = [code for e in engines for code in REGIONS.get(e.target.upper(), (e.target.upper(),))]
        rows: list[JsonObject] = [
            {"language": code, "name": name_of(base_code(code)) + (f" ({code[3:]})" if len(code) > 3 else "")}
            for code in dict.fromkeys(codes)
        ]
        return JSONResponse([row | {"supports_formality": False} if asked == "target" else row for row in rows])

    async def usage(self, call: Call) -> Response:
        await call.values()
        return JSONResponse({"character_count": self.service.metrics.usage(call.owner), "character_limit": UNLIMITED})

    async def glossary_pairs(self, call: Call) -> Response:
        await call.values()
        rows = [{"source_lang": engine.source, "target_lang": engine.target} for engine in self.service.engines]
        return JSONResponse({"supported_languages": rows})

    async def create_glossary(self, call: Call) -> Response:
        asked = read_fields(GLOSSARY, await call.values())
        engine = self.service.engine(asked["source_lang"], asked["target_lang"])
        entries = _entries(asked["entries"], asked["entries_format"])
        terms = await call.apart(Glossary.of, call.while_wanted(entries), engine.text)
        stored = StoredGlossary(
            str(uuid.uuid4()),
            call.owner,
            asked["name"][:1000],
            engine.source,
            engine.target,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z",
            entries,
            terms,
        )
        with self._lock:
            if len(self._glossaries) >= MOST_GLOSSARIES:
                raise Refusal(456, f"there are already {MOST_GLOSSARIES} glossaries; delete one")
            self._glossaries[stored.glossary_id] = stored
        return JSONResponse(stored.as_json(), 201)

    async def list_glossaries(self, call: Call) -> Response:
        await call.values()
        own = [glossary for glossary in self._glossaries.values() if glossary.owner == call.owner]
        return JSONResponse({"glossaries": [glossary.as_json() for glossary in own]})

    async def get_glossary(self, call: Call) -> Response:
        await call.values()
        return JSONResponse(self._glossary(call, call.request.path_params["id"]).as_json())

    async def delete_glossary(self, call: Call) -> Response:
        await call.values()
        stored = self._glossary(call, call.request.path_params["id"])
        with self._lock:
            self._glossaries.pop(stored.glossary_id, None)
        return Response(status_code=204)

    async def glossary_entries(self, call: Call) -> Response:
        await call.values()
        stored = self._glossary(call, call.request.path_params["id"])
        lines = [f"{term}\t{translation}" for term, translation in stored.entries]
        return PlainTextResponse("\n".join(lines), media_type="text/tab-separated-values; charset=utf-8")

    def _glossary(self, call: Call, glossary_id: str) -> StoredGlossary:
        stored = self._glossaries.get(glossary_id)
        if stored is None or stored.owner != call.owner:
            raise Refusal(404, "there is no such glossary")
        return stored


def _format(asked: JsonObject) -> TextFormat:
    """How the texts of a request are processed."""
    form = FORMATS.get(asked["tag_handling"], PLAIN)
    if form is not PLAIN:
        names = {field: _names(asked[field], form) for field in ("splitting_tags", "non_splitting_tags", "ignore_tags")}
        form = replace(
            form,
            splitting=form.splitting | names["splitting_tags"],
            non_splitting=names["non_splitting_tags"],
            ignored=names["ignore_tags"],
            detect=form.detect and asked["outline_detection"],
            strict=form is XML and asked["tag_handling_version"] == "v2",
        )
    split = asked["split_sentences"]
    if split in ("1", "on", "all"):
        return replace(form, newlines=True)
    return replace(form, newlines=False, sentences=split == "nonewlines") if split in ("0", "off", "nonewlines") else form


def _names(values: Sequence[str], form: TextFormat) -> frozenset[str]:
    return frozenset(form.key(name.strip()) for value in values for name in value.split(",") if name.strip())


def _entries(text: str, form: str) -> list[tuple[str, str]]:
    """The entries of a glossary, as TSV or CSV."""
    if form == "csv":
        try:
            rows = [row[:2] for row in csv.reader(io.StringIO(text)) if row]
        except csv.Error as error:
            raise Refusal(400, f"the entries are not CSV: {error}") from error
    else:
        rows = [line.split("\t") for line in text.splitlines() if line.strip()]
    if not rows or len(rows) > MOST_ENTRIES:
        raise Refusal(400, f"a glossary has between 1 and {MOST_ENTRIES} entries")
    for n, row in enumerate(rows, start=1):
        if len(row) != 2 or not row[0].strip() or not row[1].strip():
            raise Refusal(400, f"entry {n} of the glossary must be a term and its translation")
    return [(term.strip(), translation.strip()) for term, translation in rows]
