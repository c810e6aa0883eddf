"""The service's own interface: /v1/translate and /v1/align return all details, /v1/systems lists the systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, ValidationError, convert
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.options import options_of
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, System
from hyperbaton.decode.markup import Constraints
from hyperbaton.decode.options import OF_PHRASES, OF_RULES
from hyperbaton.decode.raw import HTML, PLAIN, Glossary, SearchResult, by_document
from hyperbaton.explore import sentence_object
from hyperbaton.serve.batching import Job
from hyperbaton.serve.dialects import Dialect, described_fields
from hyperbaton.serve.engine import Engine, EngineAnswer, EngineRequest
from hyperbaton.serve.fields import Names, Tokens, about, as_list, read_fields
from hyperbaton.serve.languages import name_of
from hyperbaton.serve.openapi import describe
from hyperbaton.serve.options import Refusal
from hyperbaton.serve.service import Call


class TranslateFields(Struct):
    """Fields of /v1/translate."""

    text: Annotated[Names | None, about("raw text, or a list of texts")] = None
    tokens: Annotated[Tokens | None, about("instead of text: the tokens of one sentence, or of several")] = None
    tags: Annotated[Tokens | None, about("a tag for each token, for models that need tags")] = None
    source: Annotated[str, about("language of the text; detected if missing")] = "auto"
    target: Annotated[str | None, about("language of the translation; optional if there is only one")] = None
    format: Annotated[Literal["text", "html"], about("format of the text")] = "text"
    details: Annotated[bool, about("return tokens, phrases, links with confidences, and scores of each sentence")] = False
    nbest: Annotated[int, about("return this many translations of each sentence; implies details", 0, 100)] = 0
    expectations: Annotated[bool, about("return what each reordering model expected at each step; implies details")] = False
    glossary: Annotated[dict[str, Any] | None, about("terms whose translations are forced: {term: translation}")] = None
    constraints: Annotated[
        list[dict[str, Any]] | None,
        about("constraints on sentences: {sentence, demands: [[begin, end, text]], zones: [[begin, end]], walls: [word]}"),
    ] = None
    options: Annotated[
        dict[str, Any] | None,
        about("options of the search that replace the system's: distortion-limit, table-limit, search, …"),
    ] = None
    reference: Annotated[
        Tokens | None,
        about("the tokens of a translation of each sentence, to find out how the system would produce it"),
    ] = None


Place = Annotated[int, Meta(ge=0, lt=2**31)]


class ConstraintFields(Struct):
    """Constraints on a sentence."""

    sentence: Place = 0
    demands: list[tuple[Place, Place, str]] | None = None
    zones: list[tuple[Place, Place]] | None = None
    walls: list[Place] | None = None


class AlignFields(Struct):
    """Fields of /v1/align."""

    src_tokens: Annotated[Tokens | None, about("source tokens")] = None
    trg_tokens: Annotated[Tokens | None, about("target tokens")] = None
    source: Annotated[str | None, about("instead of tokens: source text, tokenized by blanks")] = None
    target: Annotated[str | None, about("its translation, tokenized by blanks")] = None


# The search options that a client may change; the others affect how long it takes.
_CHANGEABLE = "distortion-limit table-limit early-distortion future-distortion itg drop-unknown monotone-at-punctuation"
FARTHEST = 50  # largest distortion limit of a request
MOST_WORDS = 200  # of either side of a pair to align


class V1(Dialect):
    """The service's own interface, described by /openapi.json and, for people, by /docs."""

    fields: ClassVar = {"/v1/translate": TranslateFields, "/v1/align": AlignFields}

    def routes(self) -> list[Route]:
        return [
            self.route("/v1/translate", ["POST"], self.translate),
            self.route("/v1/align", ["POST"], self.align),
            self.route("/v1/systems", ["GET"], self.systems),
            self.route("/openapi.json", ["GET"], self.openapi),
        ]

    async def translate(self, call: Call) -> Response:
        started = time.perf_counter()
        asked = read_fields(TranslateFields, await call.values())
        if (asked.text is None) == (asked.tokens is None):
            raise Refusal(400, "give either text or tokens")
        texts = as_list(asked.text) if asked.tokens is None else _lines(asked.tokens)
        engine = await call.engine(asked.source, asked.target, texts)
        terms = asked.glossary

        def answer(answered: EngineAnswer) -> JsonObject:
            return _answer(answered, asked)

        request = EngineRequest(
            answer,
            texts if asked.tokens is None else (),
            None if asked.tokens is None else texts,
            None if asked.tags is None else _lines(asked.tags),
            form=HTML if asked.format == "html" else PLAIN,
            n_best=max(asked.nbest, 1),
            glossary=await call.apart_if(bool(terms), _glossary, terms, engine, call.while_wanted),
            constraints=_constraints(asked.constraints or []),
            options=_options(engine.system, asked.options or {}),
        )
        if request.tags is not None and len(request.tags) != len(texts):
            raise Refusal(400, "there must be as many lists of tags as of tokens")
        translated = await call.translate(engine, request)
        if asked.reference is not None:
            translated["reference"] = await call.translate(engine, _forced(request, asked.reference))
        translated |= {"source": engine.source, "target": engine.target, "system": engine.name}
        return JSONResponse(translated | {"seconds": round(time.perf_counter() - started, 4)})

    async def align(self, call: Call) -> Response:
        asked = read_fields(AlignFields, await call.values())
        aligner = self.service.aligner
        if aligner is None:
            raise Refusal(501, "the service was started without --aligner")
        if asked.src_tokens is not None and asked.trg_tokens is not None:
            sides = [_lists(asked.src_tokens), _lists(asked.trg_tokens)]
        elif asked.src_tokens is None and asked.source is not None and asked.target is not None:
            sides = [[asked.source.split()], [asked.target.split()]]
        else:
            raise Refusal(400, "give src_tokens and trg_tokens, or source and target")
        if len(sides[0]) != len(sides[1]):
            raise Refusal(400, "there must be as many source sentences as target sentences")
        for line in (*sides[0], *sides[1]):
            if len(line) > MOST_WORDS or any(token != "".join(token.split()) or not token for token in line):
                raise Refusal(400, f"tokens must be non-empty and without blanks, at most {MOST_WORDS} in a sentence")
        sources, targets = ([" ".join(line) for line in side] for side in sides)
        self.service.check_amount(sources + targets)

        def run(jobs: Sequence[Job]) -> None:
            for job in jobs:
                try:
                    bitext = Bitext.of(sources, targets)
                    job.finish((aligner.align(bitext, threads=1), aligner.posteriors(bitext, 1e-6, threads=1)))
                except Exception as error:
                    job.fail(error)

        size = sum(map(len, sources + targets)) + 1
        job = Job(object(), size, None, run, time.monotonic() + call.seconds_left)
        links, posteriors = await call.wait(job, sources + targets)
        rows = []
        for n in range(len(sources)):
            means = posteriors.means(n)
            confidences = [round(means.get((i, j), 0.0), 6) for i, j in links[n]]
            rows.append({"alignment": [[i, j] for i, j in links[n]], "confidences": confidences})
        nested = any(isinstance(line, list) for line in asked.src_tokens or ())
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
        return JSONResponse(describe(described_fields()))


def _answer(answered: EngineAnswer, asked: TranslateFields) -> JsonObject:
    engine = answered.engine
    lines = answered.texts() if asked.tokens is None else answered.lines()
    rows = []
    for text, (_, results) in zip(lines, by_document(answered.documents, answered.searched), strict=True):
        row: JsonObject = {"text": text}
        if asked.tokens is not None:
            row["tokens"] = text.split()
        if asked.details or asked.expectations or asked.nbest:
            row["sentences"] = sentences = []
            for one in results:
                answered.check()
                sentences.append(sentence_details(engine, one, n_best=asked.nbest, expected=asked.expectations))
        rows.append(row)
    answer: JsonObject = {"translations": rows}
    return answer | ({"conflicts": answered.conflicts} if answered.conflicts else {})


def sentence_details(engine: Engine, searched: SearchResult, *, n_best: int = 0, expected: bool = False) -> JsonObject:
    """The object of a sentence as in the page of a run, with its tags if there are any, and texts in addition to tokens.

    `confidence` of a link is the aligner's mean posterior or, without an aligner, the phrase table's p(target | source)
    of its phrase.
    """
    record = sentence_object(
        searched.found, searched.piece, n_best=n_best, expected=expected, confidences=_confidences(engine, searched)
    )
    copied = searched.sentence.copied
    for side, tokens in (("source", searched.sentence.tokens), ("target", record["target"])):
        record[side] = [copied.get(token, token) for token in tokens]
    record |= {"text": _text(engine, searched, searched.paths[:1])}
    if any(searched.sentence.labels):
        record["tags"] = searched.sentence.labels
    for n, other in enumerate(record.get("nbest", [])):
        other["text"] = _text(engine, searched, searched.paths[n : n + 1])
    return record


def _text(engine: Engine, searched: SearchResult, paths: range) -> str:
    return "".join(engine.raw.write_sentence(searched.sentence, searched.translated(path)) for path in paths)


def _confidences(engine: Engine, searched: SearchResult) -> dict[tuple[int, int], float] | None:
    """The aligner's mean posteriors of the links of the best translation, if there is an aligner."""
    tokens = searched.best.tokens
    if engine.aligner is None or not tokens or not searched.sentence.tokens:
        return None
    bitext = Bitext.of([searched.sentence.line], [" ".join(tokens)])
    return engine.aligner.posteriors(bitext, 1e-6, threads=1).means(0)


def _forced(request: EngineRequest, reference: Tokens) -> EngineRequest:
    """The request with forced translations added."""

    def answer(answered: EngineAnswer) -> list[JsonObject]:
        return [sentence_details(answered.engine, one, expected=True) for one in answered.searched]

    return replace(request, answer=answer, n_best=1, reference=_lines(reference))


def _lists(tokens: Tokens) -> list[list[str]]:
    """Tokens of sentences; those of a single sentence need not be in a list."""
    lists = [line for line in tokens if not isinstance(line, str)]
    return lists or [[token for token in tokens if isinstance(token, str)]]


def _lines(tokens: Tokens) -> list[str]:
    return [" ".join(line) for line in _lists(tokens)]


def _glossary(terms: Json, engine: Engine, while_wanted: Callable[[Any], Any]) -> Glossary | None:
    if terms is None:
        return None
    if len(terms) > 10_000 or not all(isinstance(value, str) for value in terms.values()):
        raise Refusal(400, "glossary must be an object of at most 10000 terms and their translations")
    return Glossary.of(while_wanted(terms.items()), engine.text if engine.system.text is not None else None)


def _constraints(rows: list[JsonObject]) -> dict[int, Constraints]:
    constraints = {}
    for row in rows:
        try:
            asked = convert(row, ConstraintFields)
            demands = [(begin, end, " ".join(text.split())) for begin, end, text in asked.demands or ()]
            if not all(0 < len(text.split()) <= 255 for _, _, text in demands):
                raise ValueError("a translation has between 1 and 255 words")
            constraints[asked.sentence] = Constraints.of(demands, asked.zones or (), asked.walls or ())
        except (ValidationError, ValueError) as error:
            raise Refusal(
                400,
                "a constraint is {sentence, demands: [[begin, end, translation]], zones: [[begin, end]], walls: [word]}",
            ) from error
    return constraints


def _options(system: System, changes: JsonObject) -> Decoding:
    if not changes:
        return system.options
    foreign = OF_PHRASES if system.is_hierarchical else OF_RULES
    decoding = {opt.flag: opt for opt in options_of(Decoding) if opt.name not in foreign}
    changeable = {flag: opt for flag, opt in decoding.items() if flag in _CHANGEABLE.split()}
    usual = system.options
    values = {}
    for name, value in changes.items():
        flag = name.replace("_", "-")
        if flag not in changeable:
            raise Refusal(400, f"options: {name[:40]!r} cannot be changed; these can: {', '.join(changeable)}")
        values[changeable[flag].name] = changeable[flag].check(value)
    limit = values.get("distortion_limit", usual.distortion_limit)
    if "distortion_limit" in values and not 0 <= limit <= FARTHEST and limit != usual.distortion_limit:
        raise Refusal(400, f"options: distortion-limit must be between 0 and {FARTHEST}")
    return replace(usual, **values)
