"""Dialects of the service by name: one file each, with the paths and the error format that its clients expect."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.base.registry import Registry
from hyperbaton.serve.options import Refusal
from hyperbaton.serve.service import Call, Service

log = logging.getLogger(__name__)
Handler = Callable[[Call], Awaitable[Response]]


class Dialect(ABC):
    """The interface for one kind of client; `fields` declares the requests to its paths, for `/docs`."""

    fields: ClassVar[Mapping[str, type[Struct]]] = {}

    def __init__(self, service: Service) -> None:
        self.service = service

    @abstractmethod
    def routes(self) -> list[Route]:
        """The paths of this dialect."""

    def error(self, refusal: Refusal) -> Response:
        """The response to a refused request."""
        return JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)

    def route(self, path: str, methods: Sequence[str], handler: Handler) -> Route:
        """A path whose handler may refuse requests."""

        async def call(request: HttpRequest) -> Response:
            request.state.path = path
            try:
                return await handler(Call(request, self.service))
            except Refusal as refusal:
                return self.error(refusal)
            except HyperbatonError as error:
                return self.error(Refusal(400, str(error)))
            except ClientDisconnect:
                return Response(status_code=499)  # the client has gone; only the log shows it
            except Exception:
                log.exception("%s %s failed", request.method, path)
                return self.error(Refusal(500, "something went wrong inside the service"))

        return Route(path, call, methods=list(methods))


DIALECTS: Registry[Any] = Registry("dialect", __name__, Dialect)


def described_fields() -> dict[str, type[Struct]]:
    """The fields of requests, by path."""
    return {path: fields for name in DIALECTS for path, fields in DIALECTS[name].fields.items()}
