"""LibreTranslate: /translate, /translate_file, /detect, /languages, /frontend/settings, /suggest."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import PurePath
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote

from msgspec import Struct
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.raw import HTML, PLAIN, Document, SearchResult, by_document
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Names, Upload, about, as_list, read_fields
from hyperbaton.serve.files import READERS, read_file
from hyperbaton.serve.languages import name_of
from hyperbaton.serve.options import Refusal
from hyperbaton.serve.service import AUTO, Call, Service

MOST_FILES = 50  # translated files that wait to be downloaded; older ones are dropped


class LibreTranslateFields(Struct):
    """Fields of /translate."""

    q: Annotated[Names, about("text or texts to translate")]
    target: Annotated[str, about("language of the translation")]
    source: Annotated[str, about("language of the text, or auto")] = "auto"
    format: Annotated[Literal["text", "html"], about("format of the text")] = "text"
    alternatives: Annotated[int, about("further translations of each text", 0, 20)] = 0


class FileFields(Struct):
    """Fields of /translate_file, besides the file."""

    target: Annotated[str, about("language of the translation")]
    source: Annotated[str, about("language of the text, or auto")] = "auto"


class DetectFields(Struct):
    """Fields of /detect."""

    q: Annotated[Names, about("text whose language is to be detected")]


class LibreTranslate(Dialect):
    """The interface of LibreTranslate, for its clients."""

    fields: ClassVar = {"/translate": LibreTranslateFields, "/translate_file": FileFields, "/detect": DetectFields}

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._files: dict[str, tuple[str, bytes]] = {}  # names for clients, and contents; changed by the event loop alone

    def routes(self) -> list[Route]:
        return [
            self.route("/translate", ["POST", "GET"], self.translate),
            self.route("/translate_file", ["POST"], self.translate_file),
            self.route("/download_file/{name}", ["GET"], self.download_file),
            self.route("/detect", ["POST", "GET"], self.detect),
            self.route("/languages", ["GET"], self.languages),
            self.route("/frontend/settings", ["GET"], self.settings),
            self.route("/suggest", ["POST"], self.suggest),
        ]

    async def translate(self, call: Call) -> Response:
        asked = read_fields(LibreTranslateFields, await call.values())
        texts, n = as_list(asked.q), asked.alternatives
        engine = await call.engine(asked.source, asked.target, texts)

        def answer(answered: EngineAnswer) -> JsonObject:
            translated: JsonObject = {"translatedText": answered.texts()}
            if n:
                documents = by_document(answered.documents, answered.searched)
                translated["alternatives"] = [_alternatives(answered, *document, n) for document in documents]
            return translated

        request = EngineRequest(answer, texts, form=HTML if asked.format == "html" else PLAIN, n_best=n + 1)
        translated = await call.translate(engine, request)
        if asked.source in AUTO:
            scores = await call.apart(self._scores, call.while_wanted(texts), engine.source)
            translated["detectedLanguage"] = [{"confidence": share, "language": code} for code, share in scores]
        if isinstance(asked.q, str):
            translated = {name: items[0] for name, items in translated.items()}
        return JSONResponse(translated)

    async def translate_file(self, call: Call) -> Response:
        values = await call.values()
        upload = values.pop("file", None)
        if not isinstance(upload, Upload):
            raise Refusal(400, "file is missing: a file in a form of type multipart/form-data")
        asked = read_fields(FileFields, values)
        texts, form, write = await call.apart(read_file, upload.name, upload.content)
        engine = await call.engine(asked.source, asked.target, texts)
        translated = await call.translate(engine, EngineRequest(EngineAnswer.texts, texts, form=form)) if texts else []
        given = PurePath(upload.name)
        name = f"{uuid.uuid4()}{given.suffix.lower()}"
        self._files[name] = f"{given.stem}.{engine.target}{given.suffix}", await call.apart(write, translated)
        while len(self._files) > MOST_FILES:
            del self._files[next(iter(self._files))]
        return JSONResponse({"translatedFileUrl": f"{call.request.base_url}download_file/{name}"})

    async def download_file(self, call: Call) -> Response:
        name = call.request.path_params["name"]
        if name not in self._files:
            raise Refusal(404, "there is no such file; translated files are kept for a short time")
        given, content = self._files[name]
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(given, safe='')}"}
        return Response(content, headers=headers, media_type="application/octet-stream")

    async def detect(self, call: Call) -> Response:
        text = " ".join(as_list(read_fields(DetectFields, await call.values()).q))
        self.service.check_amount([text])
        languages = await call.apart(self.service.detector.detect, text)
        return JSONResponse([{"confidence": share, "language": code} for code, share in languages if share > 0])

    def _scores(self, texts: Iterable[str], source: str) -> list[tuple[str, float]]:
        return [self.service.detector.detect(text, [source])[0] for text in texts]

    async def languages(self, call: Call) -> Response:
        # Clients send GET with a form, which contains the key if there is one.
        await call.values()
        targets: dict[str, list[str]] = {}
        for engine in self.service.engines:
            targets.setdefault(engine.source, []).append(engine.target)
            targets.setdefault(engine.target, [])
        return JSONResponse([{"code": code, "name": name_of(code), "targets": others} for code, others in targets.items()])

    async def settings(self, call: Call) -> Response:
        service = self.service
        first = service.engines[0] if service.engines else None
        source, target = ("auto", "en") if first is None else (first.source, first.target)
        return JSONResponse(
            {
                "apiKeys": service.keys.are_needed,
                "keyRequired": service.keys.are_needed,
                "charLimit": service.limits.max_characters,
                "frontendTimeout": 500,
                "suggestions": False,
                "supportedFilesFormat": list(READERS),
                "filesTranslation": True,
                "language": {
                    "source": {"code": source, "name": name_of(source)},
                    "target": {"code": target, "name": name_of(target)},
                },
            }
        )

    async def suggest(self, call: Call) -> Response:
        await call.values()
        raise Refusal(403, "suggestions are not collected by this service")


def _alternatives(answered: EngineAnswer, document: Document, results: list[SearchResult], n: int) -> list[str]:
    """Alternative translations of a text, each with an alternative for one of its sentences; the best ones first."""
    best = [searched.best for searched in results]
    changes = sorted(
        (float(searched.found.scores[searched.paths[0]] - searched.found.scores[path]), at, path)
        for at, searched in enumerate(results)
        for path in searched.paths[1:]
    )
    texts: list[str] = []
    for _, at, path in changes:
        if len(texts) == n:
            break
        answered.check()
        text = answered.engine.raw.write(document, [*best[:at], results[at].translated(path), *best[at + 1 :]])
        if text not in texts:
            texts.append(text)
    return texts
