"""The service's own interface: /v1/translate and /v1/align return all details, /v1/systems lists the systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.options import options_of
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, System
from hyperbaton.decode.glossary import Glossary
from hyperbaton.decode.markup import Constraints
from hyperbaton.decode.options import OF_PHRASES, OF_RULES
from hyperbaton.decode.raw import by_document
from hyperbaton.decode.raw_structure import HTML, PLAIN
from hyperbaton.serve.batching import Job
from hyperbaton.serve.details import sentence_details
from hyperbaton.serve.dialects import Dialect
from hyperbaton.serve.engine import Engine, EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Field, read_fields
from hyperbaton.serve.languages import name_of
from hyperbaton.serve.openapi import describe
from hyperbaton.serve.refusal import Refusal
from hyperbaton.serve.service import Call

TRANSLATE = (
    Field("text", "strings", "raw text, or a list of texts"),
    Field("tokens", "tokens", "instead of text: the tokens of one sentence, or of several"),
    Field("tags", "tokens", "a tag for each token, for models that need tags"),
    Field("source", "string", "language of the text; detected if missing", "auto"),
    Field("target", "string", "language of the translation; optional if there is only one"),
    Field("format", "string", "text or html", "text", choices=("text", "html")),
    Field("details", "boolean", "return tokens, phrases, links with confidences, and scores of each sentence", False),
    Field("nbest", "integer", "return this many translations of each sentence; implies details", 0, maximum=100),
    Field("expectations", "boolean", "return what each reordering model expected at every step; implies details", False),
    Field("glossary", "object", "terms whose translations are forced: {term: translation}"),
    Field(
        "constraints",
        "array",
        "constraints on sentences: {sentence, demands: [[begin, end, text]], zones: [[begin, end]], walls: [word]}",
    ),
    Field("options", "object", "options of the search that replace the system's: distortion-limit, table-limit, search, …"),
    Field(
        "reference", "tokens", "the tokens of a translation of each sentence, to find out how the system would produce it"
    ),
)
ALIGN = (
    Field("src_tokens", "tokens", "source tokens"),
    Field("trg_tokens", "tokens", "target tokens"),
    Field("source", "string", "instead of tokens: source text, tokenized by blanks"),
    Field("target", "string", "its translation, tokenized by blanks"),
)
DESCRIBED = {"/v1/translate": TRANSLATE, "/v1/align": ALIGN}
# The search options that a client may change; the others affect how long it takes.
CHANGEABLE = (
    "distortion-limit",
    "table-limit",
    "early-distortion",
    "future-distortion",
    "drop-unknown",
    "monotone-at-punctuation",
)
FARTHEST = 50  # largest distortion limit of a request
MOST_WORDS = 200  # of either side of a pair to align


class V1(Dialect):
    """The service's own interface, described by /openapi.json and, for people, by /docs."""

    def routes(self) -> list[Route]:
        return [
            self.route("/v1/translate", ["POST"], self.translate),
            self.route("/v1/align", ["POST"], self.align),
            self.route("/v1/systems", ["GET"], self.systems),
            self.route("/openapi.json", ["GET"], self.openapi),
        ]

    async def translate(self, call: Call) -> Response:
        started = time.perf_counter()
        values = await call.values()
        asked = read_fields(TRANSLATE, values)
        if (asked["text"] is None) == (asked["tokens"] is None):
            raise Refusal(400, "give either text or tokens")
        texts = asked["text"] if asked["tokens"] is None else [" ".join(line) for line in _lists(asked["tokens"])]
        engine = await call.engine(asked["source"], asked["target"], texts)
        details = asked["details"] or asked["expectations"] or asked["nbest"] > 0
        terms = asked["glossary"]

        def answer(answered: EngineAnswer) -> JsonObject:
            return _answer(answered, asked, details)

        request = EngineRequest(
            answer,
            texts if asked["tokens"] is None else (),
            None if asked["tokens"] is None else texts,
            None if asked["tags"] is None else [" ".join(line) for line in _lists(asked["tags"])],
            form=HTML if asked["format"] == "html" else PLAIN,
            n_best=max(asked["nbest"], 1),
            glossary=await call.apart_if(bool(terms), _glossary, terms, engine, call.while_wanted),
            constraints=_constraints(asked["constraints"] or []),
            options=_options(engine.system, asked["options"] or {}),
        )
        if request.tags is not None and len(request.tags) != len(texts):
            raise Refusal(400, "there must be as many lists of tags as of tokens")
        found = await call.translate(engine, request)
        if asked["reference"] is not None:
            found["reference"] = await call.translate(engine, _forced(request, asked["reference"]))
        found |= {"source": engine.source, "target": engine.target, "system": engine.name}
        return JSONResponse(found | {"seconds": round(time.perf_counter() - started, 4)})

    async def align(self, call: Call) -> Response:
        values = await call.values()
        asked = read_fields(ALIGN, values)
        aligner = self.service.aligner
        if aligner is None:
            raise Refusal(501, "the service was started without --aligner")
        own_tokens = asked["src_tokens"] is not None
        names = ("src_tokens", "trg_tokens") if own_tokens else ("source", "target")
        if any(asked[name] is None for name in names):
            raise Refusal(400, "give src_tokens and trg_tokens, or source and target")
        sides = [_lists(asked[name]) if own_tokens else [asked[name].split()] for name in names]
        if len(sides[0]) != len(sides[1]):
            raise Refusal(400, "there must be as many source sentences as target sentences")
        for side in sides:
            for line in side:
                if len(line) > MOST_WORDS or any(token != "".join(token.split()) or not token for token in line):
                    raise Refusal(400, f"tokens must be non-empty and without blanks, at most {MOST_WORDS} in a sentence")
        texts = [" ".join(line) for side in sides for line in side]
        self.service.check_amount(texts)

        def run(jobs: Sequence[Job]) -> None:
            for job in jobs:
                try:
                    bitext = Bitext.of([" ".join(line) for line in sides[0]], [" ".join(line) for line in sides[1]])
                    links = aligner.align(bitext, threads=1)
                    posteriors = aligner.posteriors(bitext, 1e-6, threads=1)
                    job.finish((links, posteriors))
                except Exception as error:
                    job.fail(error)

        job = Job(object(), sum(map(len, texts)) + 1, None, run, time.monotonic() + call.seconds_left)
        links, posteriors = await call.wait(job, texts)
        rows = []
        for n in range(len(sides[0])):
            means = posteriors.means(n)
            rows.append(
                {
                    "alignment": [[i, j] for i, j in links[n]],
                    "confidences": [round(means.get((i, j), 0.0), 6) for i, j in links[n]],
                }
            )
        nested = own_tokens and bool(asked["src_tokens"]) and isinstance(asked["src_tokens"][0], list)
        return JSONResponse({"alignments": rows} if nested else rows[0])

    async def systems(self, call: Call) -> Response:
        await call.values()
        rows = [
            {
                "name": engine.name,
                "source": engine.source,
                "target": engine.target,
                "source_name": name_of(engine.source),
                "target_name": name_of(engine.target),
                "raw_text": engine.system.text is not None,
                "features": {name: list(weights) for name, weights in engine.system.weights.items()},
                "reordering": list(engine.system.reordering),
                "options": {opt.flag: getattr(engine.system.options, opt.name) for opt in options_of(Decoding)},
            }
            for engine in self.service.engines
        ]
        return JSONResponse({"systems": rows, "aligner": self.service.aligner is not None})

    async def openapi(self, call: Call) -> Response:
        return JSONResponse(describe(DESCRIBED))


def _answer(answered: EngineAnswer, asked: JsonObject, details: bool) -> JsonObject:
    engine = answered.engine
    lines = answered.texts() if asked["tokens"] is None else answered.lines()
    rows = []
    for text, (_, own) in zip(lines, by_document(answered.documents, answered.searched), strict=True):
        row: JsonObject = {"text": text}
        if asked["tokens"] is not None:
            row["tokens"] = text.split()
        if details:
            row["sentences"] = sentences = []
            for one in own:
                answered.check()
                sentences.append(sentence_details(engine, one, n_best=asked["nbest"], expected=asked["expectations"]))
        rows.append(row)
    found: JsonObject = {"translations": rows}
    return found | ({"conflicts": answered.conflicts} if answered.conflicts else {})


def _forced(request: EngineRequest, reference: Json) -> EngineRequest:
    """The request with forced translations added."""

    def answer(answered: EngineAnswer) -> list[JsonObject]:
        return [sentence_details(answered.engine, one, expected=True) for one in answered.searched]

    return replace(request, answer=answer, n_best=1, reference=[" ".join(line) for line in _lists(reference)])


def _lists(tokens: list[Json]) -> list[list[str]]:
    """Tokens of sentences; those of a single sentence need not be in a list."""
    return [tokens] if not tokens or isinstance(tokens[0], str) else tokens


def _glossary(terms: Json, engine: Engine, while_wanted: Callable[[Any], Any]) -> Glossary | None:
    if terms is None:
        return None
    if len(terms) > 10_000 or not all(isinstance(value, str) for value in terms.values()):
        raise Refusal(400, "glossary must be an object of at most 10000 terms and their translations")
    return Glossary.of(while_wanted(terms.items()), engine.text if engine.system.text is not None else None)


def _constraints(rows: list[JsonObject]) -> dict[int, Constraints]:
    found = {}
    for row in rows:
        try:
            found[_whole(row.get("sentence", 0))] = Constraints.of(
                ((_whole(b), _whole(e), _words(text)) for b, e, text in row.get("demands") or ()),
                ((_whole(b), _whole(e)) for b, e in row.get("zones") or ()),
                (_whole(word) for word in row.get("walls") or ()),
            )
        except (TypeError, ValueError) as error:
            raise Refusal(
                400,
                "a constraint is {sentence, demands: [[begin, end, translation]], zones: [[begin, end]], walls: [word]}",
            ) from error
    return found


def _whole(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ValueError(value)
    return value


def _words(value: Json) -> str:
    if not isinstance(value, str) or not 0 < len(value.split()) <= 255:
        raise ValueError(value)
    return " ".join(value.split())


def _options(system: System, changes: JsonObject) -> Decoding:
    if not changes:
        return system.options
    foreign = OF_PHRASES if system.is_hierarchical else OF_RULES
    known = {opt.flag: opt for opt in options_of(Decoding) if opt.flag in CHANGEABLE and opt.name not in foreign}
    own = system.options
    chosen = {}
    for name, value in changes.items():
        flag = name.replace("_", "-")
        if flag not in known:
            raise Refusal(400, f"options: {name[:40]!r} cannot be changed; these can: {', '.join(known)}")
        chosen[known[flag].name] = known[flag].check(value)
    limit = chosen.get("distortion_limit", own.distortion_limit)
    if "distortion_limit" in chosen and not 0 <= limit <= FARTHEST and limit != own.distortion_limit:
        raise Refusal(400, f"options: distortion-limit must be between 0 and {FARTHEST}")
    return replace(own, **chosen)
