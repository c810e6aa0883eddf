"""The service behind all dialects: which system translates, who may ask, how much, and in what order."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.serve.batching import Batcher, Job
from hyperbaton.serve.engine import Answered, Engine, Request
from hyperbaton.serve.fields import parse_body, parse_query
from hyperbaton.serve.keys import Keys
from hyperbaton.serve.languages import Detector, base_code
from hyperbaton.serve.metrics import Metrics
from hyperbaton.serve.options import Limits
from hyperbaton.serve.refusal import Refusal

DRAINED = 32_000_000  # bytes of a body that is too large which are read before it is refused, so that the client listens
AUTO = ("", "auto")


class Service:
    """Systems, limits, keys and counters; `log` is given a line for each request, texts in it only if `log_texts`."""

    def __init__(
        self,
        engines: Sequence[Engine],
        limits: Limits | None = None,
        *,
        keys: Keys | None = None,
        aligner: Aligner | None = None,
        log: Callable[[str], None] | None = None,
        log_texts: bool = False,
    ) -> None:
        self.engines, self.limits, self.keys = list(engines), limits or Limits(), keys or Keys([])
        self.aligner, self.log, self.log_texts = aligner, log, log_texts
        pairs = [engine.pair for engine in self.engines]
        if len(set(pairs)) != len(pairs):
            twice = next(pair for pair in pairs if pairs.count(pair) > 1)
            raise OptionError(f"there are two systems for {twice}; one can be served for each pair of languages")
        if not self.engines and aligner is None:
            raise OptionError("nothing to serve: name a system or an aligner")
        self.metrics, self.started = Metrics(), time.time()
        self.detector = Detector(self.engines)
        self.detector.detect("a")  # loads the tokenizers
        self.batcher = Batcher(n_workers=self.limits.workers, capacity=self.limits.queue, batch=self.limits.batch)

    def close(self) -> None:
        """Finish what was taken, and take no more."""
        self.batcher.close(self.limits.timeout + 5)

    def engine(self, source: str | None, target: str | None, texts: Sequence[str] = ()) -> Engine:
        """The system for a pair of languages; without a source language, the one that knows most of the text."""
        wanted_source = base_code(source or "")
        wanted_target = base_code(target or "")
        found = [engine for engine in self.engines if wanted_target in ("", engine.target)]
        if wanted_source not in AUTO:
            found = [engine for engine in found if engine.source == wanted_source]
        if len(found) > 1 and wanted_source in AUTO:
            best = self.detector.detect(" ".join(texts), [engine.source for engine in found])[0][0]
            found = [engine for engine in found if engine.source == best]
        if len(found) != 1:
            pairs = ", ".join(engine.pair for engine in self.engines) or "none"
            what = "more than one system" if found else "no system"
            raise Refusal(
                400, f"there is {what} for {(source or 'auto')[:20]} to {(target or 'any')[:20]}; there are: {pairs}"
            )
        return found[0]

    def check_amount(self, texts: Sequence[str]) -> None:
        """Refuse too many texts, or too much of them."""
        limits = self.limits
        if len(texts) > limits.max_texts:
            raise Refusal(413, f"a request may have {limits.max_texts} texts, not {len(texts)}")
        n = sum(map(len, texts))
        if n > limits.max_characters:
            raise Refusal(413, f"a request may have {limits.max_characters} characters, not {n}")


class Call:
    """One HTTP request to the service: its fields, its key, and what it asks to be done."""

    def __init__(self, request: HttpRequest, service: Service) -> None:
        self.request, self.service = request, service
        self._body: bytes | None = None

    async def body(self) -> bytes:
        """The body, within the limits of size and time."""
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
        return self._body

    async def values(self) -> dict[str, Any]:
        """The fields of the query and of the body, and the owner of the key is known; an error if there is none."""
        values = parse_query(self.request.scope["query_string"])
        values |= parse_body(self.request.headers.get("content-type", ""), await self.body())
        self.authorize(values)
        return values

    def authorize(self, values: dict[str, Any]) -> str:
        """Whose key the request has; a refusal if it has none that is allowed."""
        owner = self.service.keys.owner(self._key(values))
        if owner is None:
            raise Refusal(403, "an API key is needed, and the one that was given, if any, is not allowed")
        self.request.state.owner = owner
        return owner

    @property
    def owner(self) -> str:
        return str(getattr(self.request.state, "owner", ""))

    def _key(self, values: dict[str, Any]) -> str | None:
        for name in ("api_key", "auth_key"):
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

    async def translate(self, engine: Engine, request: Request) -> Any:
        """Have a request done, unless its client goes away before."""
        service = self.service
        texts = request.texts if request.lines is None else request.lines
        service.check_amount(texts)
        answer, counted = request.answer, [0]

        def count(answered: Answered) -> Any:
            counted[0] = len(answered.searched)
            return answer(answered)

        request.answer = count
        found = await self.wait(engine.job(request, service.limits.timeout), texts)
        self.request.state.work = (engine.pair, request.n_characters)
        service.metrics.translated(engine.pair, request.n_characters, counted[0], self.owner)
        return found

    async def wait(self, job: Job, texts: Sequence[str]) -> Any:
        """Put a job into the queue, and wait for it while its client does."""
        service = self.service
        service.batcher.submit(job)
        if service.log_texts:
            self.request.state.texts = list(texts)
        result = asyncio.ensure_future(asyncio.wrap_future(job.future))
        gone = asyncio.ensure_future(self._disconnected())
        try:
            await asyncio.wait({result, gone}, timeout=service.limits.timeout, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            if gone.done():
                raise ClientDisconnect
            raise Refusal(504, f"the translation was not ready after {service.limits.timeout:g} seconds")
        except Cancelled:
            raise Refusal(504, f"the translation was not ready after {service.limits.timeout:g} seconds") from None
        finally:
            job.abandoned = True
            gone.cancel()
            if not result.done():
                result.cancel()

    async def _disconnected(self) -> None:
        """Wait until the client has gone."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass
