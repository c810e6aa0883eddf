"""DeepL, version 2: /v2/translate, /v2/languages, /v2/usage, /v2/glossaries.

Glossaries live as long as the service; each belongs to the key that created it.
"""

from __future__ import annotations

import csv
import io
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import Struct
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.raw import HTML, PLAIN, XML, Glossary, TextFormat
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Names, about, as_list, read_fields
from hyperbaton.serve.languages import base_code, name_of
from hyperbaton.serve.options import Refusal
from hyperbaton.serve.service import Call, Service

MOST_GLOSSARIES, MOST_ENTRIES = 200, 10_000
UNLIMITED = 1_000_000_000_000  # characters: clients expect a limit
# The regions that clients request; DeepL's libraries refuse English and Portuguese without one.
REGIONS = {"EN": ("EN-US", "EN-GB"), "PT": ("PT-BR", "PT-PT"), "ZH": ("ZH", "ZH-HANS")}
FORMATS = {"xml": XML, "html": HTML}


class DeepLFields(Struct):
    """Fields of /v2/translate."""

    text: Annotated[Names, about("text or texts to translate")]
    target_lang: Annotated[str, about("language of the translation")]
    source_lang: str | None = None  # detected if missing
    split_sentences: Literal["0", "1", "nonewlines", "on", "off", "all", "default"] | None = None
    tag_handling: Literal["xml", "html"] | None = None
    tag_handling_version: Literal["v1", "v2"] = "v1"  # v2 refuses XML that is not well-formed
    outline_detection: bool = True  # if false, only splitting_tags split XML into sentences
    splitting_tags: Names | None = None
    non_splitting_tags: Names | None = None
    ignore_tags: Names | None = None
    glossary_id: str | None = None


class GlossaryFields(Struct):
    """Fields of /v2/glossaries."""

    name: Annotated[str, about("name of the glossary")]
    source_lang: Annotated[str, about("language of the terms")]
    target_lang: Annotated[str, about("language of their translations")]
    entries: Annotated[str, about("terms and translations")]
    entries_format: Literal["tsv", "csv"] = "tsv"


class StoredGlossary(NamedTuple):
    """A glossary of a client, with its description for clients."""

    owner: str
    pair: str
    description: JsonObject
    entries: list[tuple[str, str]]
    terms: Glossary


class DeepL(Dialect):
    """The interface of DeepL, for its libraries (`server_url`)."""

    fields: ClassVar = {"/v2/translate": DeepLFields, "/v2/glossaries": GlossaryFields}

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._glossaries: dict[str, StoredGlossary] = {}  # changed by the event loop alone

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
        asked = read_fields(DeepLFields, await call.values())
        texts = as_list(asked.text)
        engine = await call.engine(asked.source_lang, asked.target_lang, texts)
        glossary = None
        if asked.glossary_id:
            stored = self._glossary(call, asked.glossary_id)
            if stored.pair != engine.pair:
                raise Refusal(400, f"the glossary is for {stored.pair}, not {engine.pair}")
            if asked.source_lang is None:
                raise Refusal(400, "a glossary needs source_lang")
            glossary = stored.terms.copy()
        request = EngineRequest(EngineAnswer.texts, texts, form=_format(asked), glossary=glossary)
        translations = await call.translate(engine, request)
        rows = [
            {"detected_source_language": engine.source.upper(), "text": text, "billed_characters": len(source)}
            for source, text in zip(texts, translations, strict=True)
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
        asked = read_fields(GlossaryFields, await call.values())
        engine = self.service.engine(asked.source_lang, asked.target_lang)
        entries = _entries(asked.entries, asked.entries_format)
        terms = await call.apart(Glossary.of, call.while_wanted(entries), engine.text)
        if len(self._glossaries) >= MOST_GLOSSARIES:
            raise Refusal(456, f"there are already {MOST_GLOSSARIES} glossaries; delete one")
        description = {
            "glossary_id": str(uuid.uuid4()),
            "name": asked.name[:1000],
            "ready": True,
            "source_lang": engine.source,
            "target_lang": engine.target,
            "creation_time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z",
            "entry_count": len(entries),
        }
        stored = StoredGlossary(call.owner, engine.pair, description, entries, terms)
        self._glossaries[str(description["glossary_id"])] = stored
        return JSONResponse(description, 201)

    async def list_glossaries(self, call: Call) -> Response:
        await call.values()
        rows = [glossary.description for glossary in self._glossaries.values() if glossary.owner == call.owner]
        return JSONResponse({"glossaries": rows})

    async def get_glossary(self, call: Call) -> Response:
        return JSONResponse((await self._asked(call)).description)

    async def delete_glossary(self, call: Call) -> Response:
        del self._glossaries[(await self._asked(call)).description["glossary_id"]]
        return Response(status_code=204)

    async def glossary_entries(self, call: Call) -> Response:
        lines = [f"{term}\t{translation}" for term, translation in (await self._asked(call)).entries]
        return PlainTextResponse("\n".join(lines), media_type="text/tab-separated-values; charset=utf-8")

    async def _asked(self, call: Call) -> StoredGlossary:
        """The glossary of the path."""
        await call.values()
        return self._glossary(call, call.request.path_params["id"])

    def _glossary(self, call: Call, glossary_id: str) -> StoredGlossary:
        stored = self._glossaries.get(glossary_id)
        if stored is None or stored.owner != call.owner:
            raise Refusal(404, "there is no such glossary")
        return stored


def _format(asked: DeepLFields) -> TextFormat:
    """How the texts of a request are processed."""
    form = FORMATS.get(asked.tag_handling or "", PLAIN)
    if form is not PLAIN:
        form = replace(
            form,
            splitting=form.splitting | _names(asked.splitting_tags, form),
            non_splitting=_names(asked.non_splitting_tags, form),
            ignored=_names(asked.ignore_tags, form),
            detect=form.detect and asked.outline_detection,
            strict=form is XML and asked.tag_handling_version == "v2",
        )
    split = asked.split_sentences
    if split in ("1", "on", "all"):
        return replace(form, newlines=True)
    return replace(form, newlines=False, sentences=split == "nonewlines") if split in ("0", "off", "nonewlines") else form


def _names(values: Names | None, form: TextFormat) -> frozenset[str]:
    return frozenset(form.key(name.strip()) for value in as_list(values) for name in value.split(",") if name.strip())


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
