"""LibreTranslate: /translate, /detect, /languages, /frontend/settings, /suggest."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.raw import Document, SearchResult, by_document
from hyperbaton.decode.raw_structure import HTML, PLAIN
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Field, read_fields
from hyperbaton.serve.languages import name_of
from hyperbaton.serve.refusal import Refusal
from hyperbaton.serve.service import AUTO, Call

TRANSLATE = (
    Field("q", "strings", "text or texts to translate", required=True),
    Field("source", "string", "language of the text, or auto", "auto"),
    Field("target", "string", "language of the translation", required=True),
    Field("format", "string", "text or html", "text", choices=("text", "html")),
    Field("alternatives", "integer", "further translations of each text", 0, maximum=20),
)
DETECT = (Field("q", "strings", "text whose language is to be detected", required=True),)


class LibreTranslate(Dialect):
    """The interface of LibreTranslate, for its clients."""

    def routes(self) -> list[Route]:
        return [
            self.route("/translate", ["POST", "GET"], self.translate),
            self.route("/detect", ["POST", "GET"], self.detect),
            self.route("/languages", ["GET"], self.languages),
            self.route("/frontend/settings", ["GET"], self.settings),
            self.route("/suggest", ["POST"], self.suggest),
        ]

    async def translate(self, call: Call) -> Response:
        values = await call.values()
        asked = read_fields(TRANSLATE, values)
        texts = asked["q"]
        engine = await call.engine(asked["source"], asked["target"], texts)
        n = asked["alternatives"]

        def answer(answered: EngineAnswer) -> JsonObject:
            found: JsonObject = {"translatedText": answered.texts()}
            if n:
                documents = by_document(answered.documents, answered.searched)
                found["alternatives"] = [_alternatives(answered, document, own, n) for document, own in documents]
            return found

        request = EngineRequest(answer, texts, form=HTML if asked["format"] == "html" else PLAIN, n_best=n + 1)
        found = await call.translate(engine, request)
        if asked["source"] in AUTO:
            scores = await call.apart(self._scores, call.while_wanted(texts), engine.source)
            found["detectedLanguage"] = [{"confidence": share, "language": code} for code, share in scores]
        if isinstance(values["q"], str):
            found = {name: items[0] for name, items in found.items()}
        return JSONResponse(found)

    async def detect(self, call: Call) -> Response:
        text = " ".join(read_fields(DETECT, await call.values())["q"])
        self.service.check_amount([text])
        found = await call.apart(self.service.detector.detect, text)
        return JSONResponse([{"confidence": share, "language": code} for code, share in found if share > 0])

    def _scores(self, texts: Iterable[str], source: str) -> list[tuple[str, float]]:
        return [self.service.detector.detect(text, [source])[0] for text in texts]

    async def languages(self, call: Call) -> Response:
        # Clients send GET with a form, which contains the key if there is one.
        await call.values()
        targets: dict[str, list[str]] = {}
        for engine in self.service.engines:
            targets.setdefault(engine.source, []).append(engine.target)
            targets.setdefault(engine.target, [])
        return JSONResponse([{"code": code, "name": name_of(code), "targets": own} for code, own in targets.items()])

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
                "supportedFilesFormat": [],
                "filesTranslation": False,
                "language": {
                    "source": {"code": source, "name": name_of(source)},
                    "target": {"code": target, "name": name_of(target)},
                },
            }
        )

    async def suggest(self, call: Call) -> Response:
        await call.values()
        raise Refusal(403, "suggestions are not collected by this service")


def _alternatives(answered: EngineAnswer, document: Document, own: list[SearchResult], n: int) -> list[str]:
    """Alternative translations of a text, each with an alternative for one of its sentences; the best ones first."""
    best = [searched.best for searched in own]
    changes = sorted(
        (float(searched.found.scores[searched.paths[0]] - searched.found.scores[path]), at, path)
        for at, searched in enumerate(own)
        for path in searched.paths[1:]
    )
    found: list[str] = []
    for _, at, path in changes:
        if len(found) == n:
            break
        answered.check()
        text = answered.engine.raw.write(document, [*best[:at], own[at].translated(path), *best[at + 1 :]])
        if text not in found:
            found.append(text)
    return found
