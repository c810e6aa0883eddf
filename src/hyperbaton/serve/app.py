"""The application: all dialects, the page, health and metrics, around one service."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyperbaton.explore import page
from hyperbaton.serve.dialects import DIALECTS, described_fields
from hyperbaton.serve.guard import HEALTH, Guard, page_policy
from hyperbaton.serve.openapi import describe
from hyperbaton.serve.pages import reference_page, translator_page
from hyperbaton.serve.service import Service

log = logging.getLogger(__name__)
DOCS, EXPLAIN = "/docs", "/explain"


def make_app(service: Service, *, cors: Sequence[str] = (), hosts: Sequence[str] = ()) -> Starlette:
    """An ASGI application; pages from the origins in `cors` (or `*`) may call it from a browser.

    Requests must name this machine in Host: `localhost`, an address, or a name in `hosts` (or `*`, which allows all).
    """

    settings = {"key": service.keys.are_needed, "limit": service.limits.max_characters}

    async def health(request: Request) -> Response:
        pairs = [engine.pair for engine in service.engines]
        waiting = service.batcher.n_waiting
        return JSONResponse({"status": "ok", "systems": pairs, "waiting": waiting, "aligner": service.aligner is not None})

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(service.metrics.text(), media_type="text/plain; version=0.0.4")

    async def start_page(request: Request) -> Response:
        return _page(translator_page(settings))

    async def explain_page(request: Request) -> Response:
        return _page(page(server=settings))

    async def docs(request: Request) -> Response:
        source, target = next(((engine.source, engine.target) for engine in service.engines), ("de", "en"))
        address = str(request.base_url).rstrip("/")
        return _page(reference_page(describe(described_fields()), address, source, target))

    routes = [Route(HEALTH, health), Route("/metrics", metrics), Route("/", start_page)]
    routes += [Route(EXPLAIN, explain_page), Route(DOCS, docs)]
    for name in DIALECTS:
        routes += DIALECTS[name](service).routes()
    routes.sort(key=lambda route: "translate" not in route.path)  # they are tried in turn
    middleware = [Middleware(Record, service=service), Middleware(Guard, hosts=hosts, origins=cors)]
    if cors:
        middleware.append(Middleware(CORSMiddleware, allow_origins=list(cors), allow_methods=["*"], allow_headers=["*"]))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    app = Starlette(routes=routes, middleware=middleware, exception_handlers={HTTPException: _refused}, lifespan=lifespan)
    app.router.redirect_slashes = False  # redirects would go where Host says
    return app


def _page(text: str) -> Response:
    return HTMLResponse(text, headers={"Content-Security-Policy": page_policy(text)})


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    what = {404: "there is nothing at this path", 405: f"this path does not take {request.method}"}
    headers = getattr(error, "headers", None)
    return JSONResponse({"error": what.get(status, str(error))}, status, headers)


class Record:
    """Counts and logs every request, without its texts and without its query."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        scope.setdefault("state", {})

        async def record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, record)
        except Exception:
            log.exception("a request failed")
        finally:
            self._told(scope, status, time.perf_counter() - started)

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        state = scope["state"]
        fixed = (HEALTH, "/metrics", "/", DOCS, EXPLAIN)
        path = state.get("path") or (scope["path"] if scope["path"] in fixed else "other")
        self.service.metrics.request(path, status, seconds)
        if self.service.log is None:
            return
        client = scope["client"][0] if scope.get("client") else "-"
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{when} {client} {scope['method']} {path} {status} {1000 * seconds:.0f} ms"
        if "work" in state:
            line += f" {state['work'][0]} {state['work'][1]} characters"
        if state.get("owner"):
            line += f" {state['owner']}"
        if "texts" in state:
            line += f" {json.dumps(state['texts'], ensure_ascii=False)}"
        self.service.log(line)
