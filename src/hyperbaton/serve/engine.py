"""A system in the service: requests become sentences, and sentences of several requests are searched together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.decode.markup import FREE, Constraints
from hyperbaton.decode.raw import (
    PLAIN,
    Document,
    Glossary,
    RawText,
    SearchResult,
    Sentence,
    TextFormat,
    by_document,
    check_annotations,
)
from hyperbaton.serve.batching import Job


@dataclass
class EngineRequest:
    """A client's request to a system.

    Arguments:
        texts: raw texts, processed according to `form`; or `lines` of tokens, with `tags` for each if models need them.
        constraints: by the number of the sentence within the request.
        reference: forced translations, one for each sentence, as tokens.
        weights: weights that replace the system's, by feature.
        graph: keep the search graph.
        answer: creates the result, in the search thread.
    """

    answer: Callable[[EngineAnswer], Any]
    texts: Sequence[str] = ()
    lines: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    form: TextFormat = PLAIN
    n_best: int = 1
    distinct: bool = True  # whether the n best translations must differ
    glossary: Glossary | None = None
    constraints: dict[int, Constraints] = field(default_factory=dict)
    options: Decoding | None = None
    reference: Sequence[str] | None = None
    weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    graph: bool = False

    @property
    def n_characters(self) -> int:
        """The total length of the texts."""
        return sum(map(len, self.texts if self.lines is None else self.lines))


@dataclass(frozen=True)
class EngineAnswer:
    """A request with its documents and the translations of their sentences, in order."""

    engine: Engine
    documents: list[Document]
    searched: list[SearchResult]
    conflicts: list[str]
    check: Callable[[], None]  # raises Cancelled if no client is waiting for the answer

    def texts(self) -> list[str]:
        """The translation of each text, or of each line of tokens as tokens."""
        texts = []
        for document, results in by_document(self.documents, self.searched):
            self.check()
            texts.append(self.engine.raw.write(document, [result.best for result in results]))
        return texts

    def lines(self) -> list[str]:
        """The translation of each line of tokens, as tokens."""
        return [
            " ".join(filter(None, (" ".join(result.best.tokens) for result in results)))
            for _, results in by_document(self.documents, self.searched)
        ]


class Engine:
    """A loaded system, its languages, and optionally an aligner for confidences."""

    def __init__(
        self, name: str, system: System, source: str, target: str, *, threads: int = 1, aligner: Aligner | None = None
    ) -> None:
        self.name, self.system, self.source, self.target = name, system, source, target
        self.threads, self.aligner = threads, aligner
        self.argument: str | None = None  # from which it was loaded
        text = system.text or TextProcessing()
        self.text = TextProcessing(replace(text.source, language=source), replace(text.target, language=target))
        processing = self.text if system.text is not None else TextProcessing()
        self.raw = RawText(processing, system.options.max_words, tags=check_annotations(system, self.text))
        self._translators = lru_cache(maxsize=8)(self._translator)
        # Warm up: do everything that is slow the first time before the first request.
        system.check()
        _ = self.translator(system.options, {}), self.raw.read("a")

    @classmethod
    def load(cls, argument: str, *, threads: int = 1, aligner: Aligner | None = None) -> Engine:
        """Load `DIR`, or `PAIR=DIR` such as `ja-en=system`; the languages are the system's unless a pair is given."""
        pair, equals, path = argument.partition("=")
        if not equals or "/" in pair:
            pair, path = "", argument
        system = System.load(path)
        text = system.text or TextProcessing()
        source, target = text.source.language, text.target.language
        if pair:
            source, dash, target = (part.strip().lower() for part in pair.partition("-"))
            if not (dash and source.isalpha() and target.isalpha()):
                raise OptionError(f"expected a pair of languages like ja-en, found {pair!r}")
        if not source or not target:
            raise OptionError(
                f"{path}: the system does not name its languages; put them before it, for example ja-en={path}"
            )
        engine = cls(Path(path).name, system, source, target, threads=threads, aligner=aligner)
        engine.argument = argument
        return engine

    def reload(self, aligner: Aligner | None) -> Engine:
        """The current version of the system on disk; this one if it was not loaded from disk."""
        return self if self.argument is None else Engine.load(self.argument, threads=self.threads, aligner=aligner)

    @property
    def pair(self) -> str:
        """Its language pair, such as `ja-en`."""
        return f"{self.source}-{self.target}"

    def translator(self, options: Decoding, weights: Mapping[str, Sequence[float]]) -> TokenTranslator:
        """A translator with these options, and weights that replace the system's."""
        return self._translators(options, _weights_key(weights))

    def _translator(self, options: Decoding, weights: _WeightsKey) -> TokenTranslator:
        system = self.system.with_weights({name: list(values) for name, values in weights}) if weights else self.system
        return TokenTranslator(system, options, threads=self.threads)

    def job(self, request: EngineRequest, timeout: float) -> Job:
        """A request as a job: jobs with the same number of translations, options and weights are searched together."""
        options = request.options or self.system.options
        key = (
            self,  # not its name: requests from before and after a reload must not be mixed
            request.n_best,
            request.distinct,
            options,
            request.reference is not None,
            _weights_key(request.weights),
            request.graph,
        )
        return Job(key, max(request.n_characters, 1), (self, request), run_jobs, time.monotonic() + timeout)


_WeightsKey = tuple[tuple[str, tuple[float, ...]], ...]


def _weights_key(weights: Mapping[str, Sequence[float]]) -> _WeightsKey:
    return tuple(sorted((name, tuple(values)) for name, values in weights.items()))


class _Prepared(NamedTuple):
    """A job whose request has been read: its documents, and their sentences with constraints."""

    job: Job
    request: EngineRequest
    documents: list[Document]
    sentences: list[Sentence]
    conflicts: list[str]


def run_jobs(jobs: Sequence[Job]) -> None:
    """Process jobs of one engine and key."""
    engine: Engine = jobs[0].work[0]
    prepared: list[_Prepared] = []
    for job in jobs:
        try:
            prepared.append(_prepare(job))
        except Exception as error:
            job.fail(error)
    try:
        results = iter(_search(engine, prepared, jobs))
    except Exception as error:
        if len(prepared) < 2 or isinstance(error, Cancelled):
            for each in prepared:
                each.job.fail(error)
            return
        # One of the jobs caused the error: try each alone.
        for each in prepared:
            run_jobs([each.job])
        return
    for job, request, documents, sentences, conflicts in prepared:
        searched = list(islice(results, len(sentences)))
        try:
            job.finish(request.answer(EngineAnswer(engine, documents, searched, conflicts, job.check)))
        except Exception as error:
            job.fail(error)


def _prepare(job: Job) -> _Prepared:
    engine, request = job.work
    documents = []
    for text in request.texts if request.lines is None else ():
        job.check()
        documents.append(engine.raw.read(text, request.form))
    for n, line in enumerate(request.lines or ()):
        documents.append(engine.raw.read_tokens(line, "" if request.tags is None else request.tags[n]))
    sentences = _constrained([sentence for document in documents for sentence in document.sentences], request)
    conflicts: list[str] = []
    if request.glossary is not None:
        for n, sentence in enumerate(sentences):
            sentences[n] = sentence.with_terms(request.glossary, n + 1, job.check)
            conflicts += request.glossary.take_conflicts()
    return _Prepared(job, request, documents, sentences, conflicts)


def _constrained(sentences: list[Sentence], request: EngineRequest) -> list[Sentence]:
    """Sentences with the constraints of their request."""
    for n, constraints in request.constraints.items():
        if not 0 <= n < len(sentences):
            raise OptionError(f"there is no sentence {n}: the request has {len(sentences)}")
        n_words = len(sentences[n].tokens)
        demanded, walls = ((b, e) for b, e, _ in constraints.demands), ((w, w + 1) for w in constraints.walls)
        for begin, end in (*demanded, *constraints.zones, *walls):
            if not 0 <= begin < end <= n_words:
                raise OptionError(f"the span {begin}-{end} is outside the {n_words} words of sentence {n}")
        if constraints.overlap:
            raise OptionError(f"required translations overlap in sentence {n}")
    return [replace(sentence, constraints=request.constraints.get(n, FREE)) for n, sentence in enumerate(sentences)]


def _search(engine: Engine, prepared: Sequence[_Prepared], jobs: Sequence[Job]) -> list[SearchResult]:
    """Search the sentences of all requests together; stop if no client is waiting."""
    if not prepared:
        return []
    first = prepared[0].request
    translator = engine.translator(first.options or engine.system.options, first.weights)
    sentences = [sentence for each in prepared for sentence in each.sentences]
    forced = None
    if first.reference is not None:
        forced = [line for each in prepared for line in each.request.reference or ()]
        if len(forced) != len(sentences):
            raise OptionError(f"there are {len(sentences)} sentences, but {len(forced)} references")

    def go_on(done: int, total: int) -> bool:
        return any(job.is_wanted for job in jobs)

    n_best = NBest(first.n_best, first.distinct and first.n_best > 1)
    return list(engine.raw.search(translator, sentences, n_best, forced=forced, graph=first.graph, progress=go_on))
