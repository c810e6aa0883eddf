"""The XML-RPC server of Moses: method `translate` at /RPC2, on tokenized text.

Parameters are a struct with `text`, and where wanted `align`, `word-align`, `nbest`, `nbest-distinct` and
`add-score-breakdown`. With several systems, /RPC2 is the first one and /RPC2/ja-en the one for that pair.
"""

from __future__ import annotations

from typing import Any
from xmlrpc.client import Fault, dumps, loads

from starlette.responses import Response
from starlette.routing import Route

from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import Answered, Engine, Request, Searched, parse_line
from hyperbaton.serve.fields import Field, read_fields
from hyperbaton.serve.refusal import Refusal
from hyperbaton.serve.service import Call

METHODS = {
    "translate": "translate(struct): text → its translation, tokens separated by blanks",
    "system.listMethods": "the names of all methods",
    "system.methodHelp": "what a method does",
}
TRANSLATE = (
    Field("text", "string", "tokenized text", required=True),
    Field("align", "boolean", "which phrase became which", False),
    Field("word-align", "boolean", "links of words", False),
    Field("nbest", "integer", "number of translations", 0, maximum=1000),
    Field("nbest-distinct", "boolean", "different translations only", False),
    Field("add-score-breakdown", "boolean", "features of the translations", False),
    Field("report-all-factors", "boolean", "has no effect: there are no factors", False),
)


class Moses(Dialect):
    """Moses' server, for clients of XML-RPC."""

    def routes(self) -> list[Route]:
        return [
            self.route("/RPC2", ["POST"], self.call),
            self.route("/RPC2/{pair}", ["POST"], self.call),
        ]

    def error(self, refusal: Refusal) -> Response:
        # What is wrong with the call itself is a fault; other refusals keep their status, so that clients can try again.
        if refusal.status == 400:
            return _response(dumps(Fault(400, str(refusal)), methodresponse=True))
        return Response(f"{refusal}\n", refusal.status, refusal.headers, "text/plain")

    async def call(self, call: Call) -> Response:
        body = await call.body()
        call.authorize({})
        params, method = _parse(body)
        if method == "system.listMethods":
            result: Any = list(METHODS)
        elif method == "system.methodHelp":
            result = METHODS.get(str(params[0]) if params else "", "")
        elif method == "translate":
            result = await self.translate(call, params)
        else:
            raise Refusal(400, f"there is no method {str(method)[:60]!r}; there are {', '.join(METHODS)}")
        return _response(dumps((result,), methodresponse=True, allow_none=True))

    async def translate(self, call: Call, params: tuple[Any, ...]) -> dict[str, Any]:
        if not params or not isinstance(params[0], dict):
            raise Refusal(400, "translate takes a struct with the text")
        # Clients of Moses write switches as true, "true", 1 or "1".
        asked = read_fields(TRANSLATE, params[0])
        engine = self._engine(call)
        line, constraints = asked["text"], {}
        if engine.system.options.markup:
            line, own = parse_line(line)
            constraints = {0: own}

        def answer(answered: Answered) -> dict[str, Any]:
            found: dict[str, Any] = {"text": f"{answered.lines()[0]} "}  # Moses ends every line so
            whole = [searched for searched in answered.searched if searched.paths]
            if asked["align"]:
                found["align"] = _phrases([(searched, searched.paths[0]) for searched in whole])
            if asked["word-align"]:
                found["word-align"] = _words(whole)
            if asked["nbest"]:
                found["nbest"] = [_hypothesis(engine, whole[0], path, asked) for path in whole[0].paths] if whole else []
            return found

        distinct = asked["nbest-distinct"]
        request = Request(answer, lines=[line], n_best=max(asked["nbest"], 1), distinct=distinct, constraints=constraints)
        result: dict[str, Any] = await call.translate(engine, request)
        return result

    def _engine(self, call: Call) -> Engine:
        pair = call.request.path_params.get("pair")
        if pair is not None:
            source, _, target = pair.partition("-")
            return self.service.engine(source or "?", target or "?")
        if not self.service.engines:
            raise Refusal(400, "there is no system")
        return self.service.engines[0]


def _parse(body: bytes) -> tuple[tuple[Any, ...], str | None]:
    # No client declares document types, and entities that expand without end need one.
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body or b"\x00" in body:
        raise Refusal(400, "the call must be plain XML in UTF-8")
    try:
        return loads(body)
    except Exception as error:  # of expat, of numbers and dates, of missing elements
        raise Refusal(400, f"the body is not a call of XML-RPC: {str(error)[:100]}") from error


def _response(text: str) -> Response:
    return Response(text.encode("utf-8", "replace"), media_type="text/xml; charset=utf-8")


def _phrases(paths: list[tuple[Searched, int]]) -> list[dict[str, int]]:
    """Phrases in target order, or rules with what is in their gaps; ends are inclusive, as in Moses."""
    rows, source, target = [], 0, 0
    for searched, path in paths:
        segments = [segment for segment in searched.found.segments(path) if segment.kind != "glue"]
        for segment in sorted(segments, key=lambda segment: segment.target[0]):
            rows.append(
                {
                    "tgt-start": target + segment.target[0],
                    "tgt-end": target + segment.target[1] - 1,
                    "src-start": source + segment.source[0],
                    "src-end": source + segment.source[1] - 1,
                }
            )
        target += len(searched.found.text[path])
        source += len(searched.sentence.tokens)
    return rows


def _words(whole: list[Searched]) -> list[dict[str, int]]:
    rows, source, target = [], 0, 0
    for searched in whole:
        best = searched.best()
        rows += [{"source-word": source + i, "target-word": target + j} for i, j in best.links]
        source, target = source + len(searched.sentence.tokens), target + len(best.tokens)
    return rows


def _hypothesis(engine: Engine, searched: Searched, path: int, asked: dict[str, Any]) -> dict[str, Any]:
    found = searched.found
    row: dict[str, Any] = {"hyp": f"{' '.join(found.text[path])} ", "totalScore": float(found.scores[path])}
    if asked["align"]:
        row["align"] = _phrases([(searched, path)])
    if asked["word-align"]:
        row["word-align"] = [{"source-word": i, "target-word": j} for i, j in searched.translated(path).links]
    if asked["add-score-breakdown"]:
        named = found.named(found.totals[path])
        row["fvals"] = " ".join(f"{name}= {' '.join(f'{v:g}' for v in values)}" for name, values in named.items())
    return row
