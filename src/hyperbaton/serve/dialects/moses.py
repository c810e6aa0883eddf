"""The XML-RPC server of Moses: method `translate` at /RPC2, on tokenized text.

Parameters are a struct with `text` and optionally `align`, `word-align`, `nbest`, `nbest-distinct`,
`add-score-breakdown`, `topt` (translation options), `sg` (the search graph) and `weights`. Unknown parameters are
refused. With several systems, /RPC2 is the first one and /RPC2/ja-en the one for that pair.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, ClassVar
from xmlrpc.client import Fault, dumps, loads

from msgspec import Struct
from msgspec.structs import fields as fields_of
from starlette.responses import Response
from starlette.routing import Route

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.base.forms import JsonObject
from hyperbaton.decode.markup import parse_markup
from hyperbaton.decode.raw import SearchResult
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import Engine, EngineAnswer, EngineRequest
from hyperbaton.serve.fields import about, read_fields
from hyperbaton.serve.options import Refusal
from hyperbaton.serve.service import Call

METHODS = {
    "translate": "translate(struct): the translation of the text in the struct, tokens separated by blanks",
    "system.listMethods": "system.listMethods(): the names of all methods",
    "system.methodHelp": "system.methodHelp(name): the description of a method",
    "system.multicall": "system.multicall(calls): the results of several calls, each in a list, or its fault",
}


class MosesFields(Struct, rename="kebab"):
    """Parameters of `translate`; clients of Moses write switches as true, "true", 1 or "1"."""

    text: Annotated[str, about("tokenized text")]
    align: bool = False
    word_align: bool = False
    nbest: Annotated[int, about("number of translations", 0, 1000)] = 0
    nbest_distinct: bool = False
    add_score_breakdown: bool = False
    topt: bool = False
    sg: bool = False
    weights: str | None = None  # for this text alone: LM0=0.5, tab, TranslationModel0=0.2 0.2 0.2 0.2
    report_all_factors: bool = False  # has no effect: there are no factors


class Moses(Dialect):
    """Moses' server, for clients of XML-RPC."""

    fields: ClassVar = {"/RPC2": MosesFields}

    def routes(self) -> list[Route]:
        return [
            self.route("/RPC2", ["POST"], self.call),
            self.route("/RPC2/{pair}", ["POST"], self.call),
        ]

    def error(self, refusal: Refusal) -> Response:
        # Errors in the call itself are faults; other refusals keep their status, so that clients can retry.
        if refusal.status == 400:
            return _response(Fault(400, str(refusal)))
        return Response(f"{refusal}\n", refusal.status, refusal.headers, "text/plain")

    async def call(self, call: Call) -> Response:
        body = await call.body()
        call.authorize({})
        params, method = await call.apart(_parse, body)
        result = await self.answer(call, method, params)
        return await call.apart(_response, (result,))

    async def answer(self, call: Call, method: str | None, params: tuple[Any, ...]) -> Any:
        """The result of a method."""
        if method == "translate":
            return await self.translate(call, params)
        if method == "system.listMethods":
            return list(METHODS)
        if method == "system.methodHelp":
            return METHODS[_known(str(params[0]) if params else "")]
        _known(str(method))
        return await self.multicall(call, params)

    async def multicall(self, call: Call, params: tuple[Any, ...]) -> list[Any]:
        """Process calls in order, within the time limit of one; a refused call has a fault as its result."""
        limits = self.service.limits
        calls = params[0] if params else None
        if not isinstance(calls, list) or not all(isinstance(item, dict) for item in calls):
            raise Refusal(400, "system.multicall takes a list of structs with methodName and params")
        given = [item["params"] for item in calls if isinstance(item.get("params"), list)]
        structs = [struct for params in given for struct in params if isinstance(struct, dict)]
        texts = [str(struct.get("text", "")) for struct in structs]
        self.service.check_amount(texts + [""] * (len(calls) - len(structs)))
        results: list[Any] = []
        try:
            async with asyncio.timeout(limits.timeout):
                for item in calls:
                    method, arguments = item.get("methodName"), item.get("params", [])
                    try:
                        if method == "system.multicall" or not isinstance(arguments, list):
                            raise Refusal(
                                400, "a call in system.multicall needs params and a methodName other than system.multicall"
                            )
                        results.append([await self.answer(call, method, tuple(arguments))])
                    except Refusal as refusal:
                        results.append({"faultCode": refusal.status, "faultString": str(refusal)})
                    except HyperbatonError as error:
                        results.append({"faultCode": 400, "faultString": str(error)})
        except TimeoutError:
            raise Refusal(504, f"the calls were not answered after {limits.timeout:g} seconds") from None
        return results

    async def translate(self, call: Call, params: tuple[Any, ...]) -> JsonObject:
        if not params or not isinstance(params[0], dict):
            raise Refusal(400, "translate takes a struct with the text")
        parameters = [field.encode_name for field in fields_of(MosesFields)]
        for name in params[0]:
            if name not in parameters:
                raise Refusal(400, f"translate has no parameter {name[:60]!r}; it has {', '.join(parameters)}")
        asked = read_fields(MosesFields, params[0])
        engine = self._engine(call)
        line, constraints = asked.text, {}
        if engine.system.options.markup:
            line, markup = parse_markup(line)
            constraints = {0: markup}

        def answer(answered: EngineAnswer) -> JsonObject:
            result: JsonObject = {"text": f"{answered.lines()[0]} "}  # Moses ends every line like this
            whole = [searched for searched in answered.searched if searched.paths]
            if asked.align:
                result["align"] = _phrases([(searched, searched.paths[0]) for searched in whole])
            if asked.word_align:
                result["word-align"] = _words(whole)
            if asked.topt:
                result["topt"] = _options(answered.searched)
            if asked.sg:
                result["sg"] = _graph(answered.searched)
            if asked.nbest:
                result["nbest"] = [_hypothesis(whole[0], path, asked) for path in whole[0].paths] if whole else []
            return result

        request = EngineRequest(
            answer,
            lines=[line],
            n_best=max(asked.nbest, 1),
            distinct=asked.nbest_distinct,
            constraints=constraints,
            weights=_weights(asked.weights or "", engine),
            graph=asked.sg,
        )
        result: JsonObject = await call.translate(engine, request)
        return result

    def _engine(self, call: Call) -> Engine:
        pair = call.request.path_params.get("pair")
        if pair is not None:
            source, _, target = pair.partition("-")
            return self.service.engine(source or "?", target or "?")
        if not self.service.engines:
            raise Refusal(400, "there is no system")
        return self.service.engines[0]


def _known(method: str) -> str:
    if method not in METHODS:
        raise Refusal(400, f"there is no method {method[:60]!r}; there are {', '.join(METHODS)}")
    return method


def _weights(text: str, engine: Engine) -> dict[str, list[float]]:
    """Parse weights in the form of Moses' clients: `LM0=0.5`, a tab, and so on."""
    weights: dict[str, list[float]] = {}
    for part in filter(None, text.split("\t")):
        name, _, values = part.partition("=")
        try:
            weights[name.strip()] = [float(value) for value in values.split()]
        except ValueError:
            weights[name.strip()] = []
        if not weights[name.strip()]:
            raise Refusal(400, f"weights must be tab-separated and look like LM0=0.5, not {part[:60]!r}")
    engine.system.with_weights(weights)  # an error if they do not match
    return weights


def _parse(body: bytes) -> tuple[tuple[Any, ...], str | None]:
    # No client declares document types, and entities that expand endlessly need one.
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body or b"\x00" in body:
        raise Refusal(400, "the call must be plain XML in UTF-8")
    try:
        return loads(body)
    except Exception as error:  # from expat, from numbers and dates, or for missing elements
        raise Refusal(400, f"the body is not a call of XML-RPC: {str(error)[:100]}") from error


def _response(answer: tuple[Any] | Fault) -> Response:
    text = dumps(answer, methodresponse=True, allow_none=True)
    return Response(text.encode("utf-8", "replace"), media_type="text/xml; charset=utf-8")


def _phrases(paths: list[tuple[SearchResult, int]]) -> list[dict[str, int]]:
    """Phrases in target order, or rules with the content of their gaps; ends are inclusive, as in Moses."""
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


def _options(sentences: list[SearchResult]) -> list[JsonObject]:
    """Translation options: the inclusive span, the phrase, its estimated score, and the values of its features."""
    rows, source = [], 0
    for searched in sentences:
        translations = searched.found
        columns = translations.found_options
        if columns is not None:
            options, piece = translations.batch.options, searched.piece
            for k in range(*columns.offsets[[piece, piece + 1]].tolist()):
                begin = source + int(columns.begin[k])
                rows.append(
                    {
                        "start": begin,
                        "end": begin + int(columns.length[k]) - 1,
                        "phrase": " ".join(options.target[k]),
                        "fscore": float(columns.estimate[k]),
                        "scores": [float(value) for value in columns.features[k]],
                    }
                )
        source += len(searched.sentence.tokens)
    return rows


def _graph(sentences: list[SearchResult]) -> list[JsonObject]:
    """The hypotheses of the search graph; the sentences of a long text follow each other."""
    rows: list[JsonObject] = []
    source = 0
    for searched in sentences:
        translations = searched.found
        spans, first = translations.batch.options.source, max((row["hyp"] + 1 for row in rows), default=0)
        for k in range(*translations.graph_offsets[[searched.piece, searched.piece + 1]].tolist()):
            hypothesis, stack, back, recombined, option = translations.graph_places[k].tolist()
            score, transition, best = translations.graph_scores[k].tolist()
            row: JsonObject = {"hyp": first + hypothesis, "stack": stack, "fscore": best}
            if option >= 0:
                begin = source + int(spans.begin[option])
                row |= {"back": first + back, "score": score, "transition": transition}
                row |= {"cover-start": begin, "cover-end": begin + int(spans.length[option]) - 1}
                row["out"] = " ".join(translations.batch.options.target[option])
            if recombined >= 0:
                row["recombined"] = first + recombined
            rows.append(row)
        source += len(searched.sentence.tokens)
    return rows


def _words(whole: list[SearchResult]) -> list[dict[str, int]]:
    rows, source, target = [], 0, 0
    for searched in whole:
        best = searched.best
        rows += [{"source-word": source + i, "target-word": target + j} for i, j in best.links]
        source, target = source + len(searched.sentence.tokens), target + len(best.tokens)
    return rows


def _hypothesis(searched: SearchResult, path: int, asked: MosesFields) -> JsonObject:
    translations = searched.found
    row: JsonObject = {"hyp": f"{' '.join(translations.text[path])} ", "totalScore": float(translations.scores[path])}
    if asked.align:
        row["align"] = _phrases([(searched, path)])
    if asked.word_align:
        row["word-align"] = [{"source-word": i, "target-word": j} for i, j in searched.translated(path).links]
    if asked.add_score_breakdown:
        named = translations.named(translations.totals[path])
        row["fvals"] = " ".join(f"{name}= {' '.join(f'{v:g}' for v in values)}" for name, values in named.items())
    return row
