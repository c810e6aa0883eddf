"""The service shared by all dialects: which system translates, who may use it, how much, and in what order."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
import time
from collections import Counter as Sums
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled, HyperbatonError, OptionError
from hyperbaton.serve.batching import Batcher, Job
from hyperbaton.serve.connections import client_of
from hyperbaton.serve.engine import Engine, EngineAnswer, EngineRequest
from hyperbaton.serve.fields import parse_body, parse_query
from hyperbaton.serve.guard import Keys
from hyperbaton.serve.languages import Detector, base_code
from hyperbaton.serve.options import Refusal, ServiceLimits

DRAINED = 32_000_000  # bytes of an oversized body that are read before it is refused, so that the client sees the response
AUTO = ("", "auto")
SMALL = 10_000  # bytes of a body that is parsed at once
SOON = 0.05  # seconds after which a disconnected client is noticed
KEY_FIELDS = ("api_key", "auth_key")
ASIDE = 4  # threads for work without search
log = logging.getLogger(__name__)


BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Requests by path and status, their duration, and the amount of translated text.

    `gauges` maps names to help and a function that returns the current value.
    """

    def __init__(self, gauges: dict[str, tuple[str, Callable[[], float]]]) -> None:
        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        self._requests = counter("hyperbaton_requests", "Requests by path and status.", ["path", "status"])
        seconds = "Time from the first byte of a request to its answer."
        self._seconds = Histogram("hyperbaton_request_seconds", seconds, buckets=BUCKETS, registry=registry)
        self._characters = counter("hyperbaton_characters", "Translated characters, by language pair.", ["pair"])
        self._sentences = counter("hyperbaton_sentences", "Translated sentences, by language pair.", ["pair"])
        self._usage: Sums[str] = Sums()  # changed by the event loop alone
        for name, (help, value) in gauges.items():
            Gauge(f"hyperbaton_{name}", help, registry=registry).set_function(value)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request; `path` is that of a route, so that there are few."""
        self._requests.labels(path, status).inc()
        self._seconds.observe(seconds)

    def translated(self, pair: str, characters: int, sentences: int, owner: str) -> None:
        """Count translated text, by owner of a key."""
        self._characters.labels(pair).inc(characters)
        self._sentences.labels(pair).inc(sentences)
        self._usage[owner] += characters

    def usage(self, owner: str) -> int:
        """The number of characters translated for the owner of a key."""
        return self._usage[owner]

    def text(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
        return generate_latest(self._registry)


class Service:
    """Systems, limits, keys and counters; `log` is called with a line for each request, with texts only if
    `log_texts`."""

    def __init__(
        self,
        engines: Sequence[Engine],
        limits: ServiceLimits | None = None,
        *,
        keys: Keys | None = None,
        aligner: Aligner | None = None,
        log: Callable[[str], None] | None = None,
        log_texts: bool = False,
    ) -> None:
        self.engines, self.limits, self.keys = list(engines), limits or ServiceLimits(), keys or Keys([])
        self.aligner, self.log, self.log_texts = aligner, log, log_texts
        pairs = [engine.pair for engine in self.engines]
        if len(set(pairs)) != len(pairs):
            twice = next(pair for pair in pairs if pairs.count(pair) > 1)
            raise OptionError(f"there are two systems for {twice}; one can be served for each pair of languages")
        if not self.engines and aligner is None:
            raise OptionError("nothing to serve: name a system or an aligner")
        self.detector = Detector(self.engines)
        self.detector.detect("a")  # loads the tokenizers
        self.batcher = Batcher(n_workers=self.limits.workers, capacity=self.limits.queue, batch=self.limits.batch)
        started = time.time()
        self.metrics = Metrics(
            {
                "queue_length": ("Waiting requests.", lambda: self.batcher.n_waiting),
                "batches_running": ("Batches being translated.", lambda: self.batcher.n_running),
                "batches_total": ("Batches started.", lambda: self.batcher.n_batches),
                "start_time_seconds": ("Start time of the service.", lambda: started),
            }
        )
        self.aside = ThreadPoolExecutor(ASIDE, "aside")  # for slow work without search

    def close(self) -> None:
        """Finish accepted requests and accept no more."""
        self.batcher.close(self.limits.timeout + 5)
        self.aside.shutdown(wait=False, cancel_futures=True)

    def reload(self, aligner: str | None = None, check: Callable[[str], None] = lambda path: None) -> list[str]:
        """Open the systems, and the aligner of this path, from disk again; report the outcome for each.

        Accepted requests are finished with the old systems. If a system cannot be opened, the old one stays in use; `check`
        may raise an error before an artefact is opened.
        """
        said: list[str] = []

        def load_aligner(path: str) -> Aligner:
            check(path)
            return Aligner.load(path)

        def load_engine(engine: Engine) -> Engine:
            if engine.argument is not None:
                check(engine.argument.rpartition("=")[2])
            new = engine.reload(self.aligner)
            if any(new.pair == other.pair for other in engines if other is not engine):
                raise OptionError(f"it is now for {new.pair}, for which there is another system")
            return new

        if aligner is not None:
            self.aligner = _reloaded(said, f"the aligner {aligner}", partial(load_aligner, aligner)) or self.aligner
        engines = list(self.engines)
        for n, engine in enumerate(self.engines):
            name = f"{engine.pair} ({engine.argument or engine.name})"
            engines[n] = _reloaded(said, name, partial(load_engine, engine)) or engine
        detector = Detector(engines)
        self.engines, self.detector = engines, detector
        return said

    def candidates(self, source: str | None, target: str | None) -> list[Engine]:
        """The systems for these languages, of which either may be open."""
        wanted_source, wanted_target = base_code(source or ""), base_code(target or "")
        return [
            engine
            for engine in self.engines
            if wanted_target in ("", engine.target) and wanted_source in (*AUTO, engine.source)
        ]

    def engine(self, source: str | None, target: str | None, texts: Sequence[str] = ()) -> Engine:
        """The system for a pair of languages; without a source language, the one whose vocabulary covers most of the
        text."""
        engines = self.candidates(source, target)
        if len(engines) > 1 and base_code(source or "") in AUTO:
            best = self.detector.detect(" ".join(texts), [engine.source for engine in engines])[0][0]
            engines = [engine for engine in engines if engine.source == best]
        if len(engines) != 1:
            pairs = ", ".join(engine.pair for engine in self.engines) or "none"
            what = "more than one system" if engines else "no system"
            raise Refusal(
                400, f"there is {what} for {(source or 'auto')[:20]} to {(target or 'any')[:20]}; there are: {pairs}"
            )
        return engines[0]

    def check_amount(self, texts: Sequence[str]) -> None:
        """Refuse too many texts, or texts that are too long."""
        limits = self.limits
        if len(texts) > limits.max_texts:
            raise Refusal(413, f"a request may have {limits.max_texts} texts, not {len(texts)}")
        n = sum(map(len, texts))
        if n > limits.max_characters:
            raise Refusal(413, f"a request may have {limits.max_characters} characters, not {n}")


T = TypeVar("T")


def _reloaded(said: list[str], what: str, load: Callable[[], T]) -> T | None:
    try:
        loaded = load()
    except Exception as error:  # on any error, the old one stays in use
        if not isinstance(error, HyperbatonError | OSError):
            log.exception("%s cannot be reloaded", what)
        said.append(f"cannot reload {what}, the old one stays: {error}")
        return None
    said.append(f"reloaded {what}")
    return loaded


class Call:
    """One HTTP request to the service: its fields, its key, and its work."""

    def __init__(self, request: HttpRequest, service: Service) -> None:
        self.request, self.service = request, service
        self._body: bytes | None = None
        self._deadline: float | None = None  # of time.monotonic()

    async def body(self) -> bytes:
        """The body, within the limits on size and time."""
        if self._body is None:
            limit = self.service.limits.max_body
            size, pieces = 0, []
            try:
                async with asyncio.timeout(self.service.limits.read_timeout):
                    async for piece in self.request.stream():
                        size += len(piece)
                        if size <= limit:
                            pieces.append(piece)
                        elif size > DRAINED:
                            break
            except TimeoutError:
                raise Refusal(408, "the request was not complete in time") from None
            if size > limit:
                raise Refusal(413, f"the body may have {limit} bytes")
            self._body = b"".join(pieces)
            self._deadline = time.monotonic() + self.service.limits.timeout
        return self._body

    @property
    def seconds_left(self) -> float:
        """The time left to respond, counted from when the request was received."""
        if self._deadline is None:
            return self.service.limits.timeout
        return max(self._deadline - time.monotonic(), 0.0)

    async def values(self) -> dict[str, object]:
        """Return the fields of the query and of the body after checking the key; refuses requests without one.

        A body is parsed only if the client's key is outside it or seems to be inside.
        """
        values = parse_query(self.request.scope["query_string"])
        body = await self.body()
        if not any(name.encode() in body for name in KEY_FIELDS):
            self.authorize(values)
        content_type, most = self.request.headers.get("content-type", ""), self.service.limits.max_fields
        values |= await self.apart_if(len(body) > SMALL, parse_body, content_type, body, most)
        self.authorize(values)
        return values

    async def apart(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in another thread, so that the service stays responsive; refuse the request if it takes too
        long."""
        pending = asyncio.wrap_future(self.service.aside.submit(function, *arguments))
        try:
            return await asyncio.wait_for(pending, self.seconds_left)
        except (TimeoutError, Cancelled):
            raise self._late() from None

    async def apart_if(self, long: bool, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function here, or in another thread if it may take long."""
        return await self.apart(function, *arguments) if long else function(*arguments)

    def while_wanted(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items as long as there is time left."""
        for item in items:
            if not self.seconds_left:
                raise Cancelled("there is no time left for the request")
            yield item

    def _late(self) -> Refusal:
        return Refusal(504, f"the answer was not ready after {self.service.limits.timeout:g} seconds")

    async def engine(self, source: str | None, target: str | None, texts: Sequence[str] = ()) -> Engine:
        """The system for a pair of languages, found in another thread if the language must be detected."""
        service = self.service
        detects = base_code(source or "") in AUTO and len(service.candidates(source, target)) > 1
        return await self.apart_if(detects, service.engine, source, target, texts)

    def authorize(self, values: dict[str, object]) -> str:
        """The owner of the request's key; a refusal if it has no allowed key."""
        owner = keys.owner(self._key(values)) if (keys := self.service.keys).are_needed else ""
        if owner is None:
            raise Refusal(403, "an API key is required; the given key, if any, is not allowed")
        self.request.state.owner = owner
        return owner

    @property
    def owner(self) -> str:
        return str(getattr(self.request.state, "owner", ""))

    def _key(self, values: dict[str, object]) -> str | None:
        for name in KEY_FIELDS:
            if isinstance(values.get(name), str):
                return str(values[name])
        headers = self.request.headers
        kind, _, rest = headers.get("authorization", "").partition(" ")
        if kind.lower() in ("bearer", "deepl-auth-key"):
            return rest.strip()
        if kind.lower() == "basic":
            with contextlib.suppress(binascii.Error, ValueError):
                return base64.b64decode(rest).decode("utf-8").partition(":")[2]
        return headers.get("x-api-key")

    async def translate(self, engine: Engine, request: EngineRequest) -> Any:
        """Process a request, unless its client disconnects first."""
        service = self.service
        texts = request.texts if request.lines is None else request.lines
        service.check_amount(texts)
        answer, counted = request.answer, [0]

        def count(answered: EngineAnswer) -> Any:
            counted[0] = len(answered.searched)
            return answer(answered)

        request.answer = count
        result = await self.wait(engine.job(request, self.seconds_left), texts)
        self.request.state.work = (engine.pair, request.n_characters)
        service.metrics.translated(engine.pair, request.n_characters, counted[0], self.owner)
        return result

    async def wait(self, job: Job, texts: Sequence[str]) -> Any:
        """Queue a job, and wait for it while the client does."""
        service = self.service
        job.client = self.owner or client_of(self.request.client.host if self.request.client else "")
        service.batcher.submit(job)
        if service.log_texts:
            self.request.state.texts = list(texts)
        result = asyncio.wrap_future(job.future)
        watched: set[asyncio.Future[Any]] = {result}
        try:
            await asyncio.wait(watched, timeout=min(SOON, self.seconds_left))
            if not result.done():
                watched.add(gone := asyncio.ensure_future(self._disconnected()))
                await asyncio.wait(watched, timeout=self.seconds_left, return_when=asyncio.FIRST_COMPLETED)
                if not result.done():
                    raise ClientDisconnect if gone.done() else self._late()
            return result.result()
        except Cancelled:
            raise self._late() from None
        finally:
            job.abandoned = True
            for future in watched:
                future.cancel()

    async def _disconnected(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass
