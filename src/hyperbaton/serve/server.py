"""Run the application until a signal asks it to stop: then finish what was taken, and take no more."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.serve.options import Limits

MOST_CONNECTIONS = 1000


class _Protocol(H11Protocol):
    """HTTP, for clients that send the head of their request in time."""

    read_timeout = 20.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(self.read_timeout, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(2048)
    except (OSError, OverflowError) as error:
        found.close()
        reason = error.strerror if isinstance(error, OSError) else error
        raise HyperbatonError(f"cannot listen at {host}:{port}: {reason}") from error
    return found


def serve(app: Starlette, sockets: list[socket.socket], limits: Limits, ready: Callable[[], None] | None = None) -> None:
    """Answer requests until SIGINT or SIGTERM; then wait for those that were begun."""
    protocol = type("Protocol", (_Protocol,), {"read_timeout": limits.read_timeout})
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=int(limits.timeout) + 5,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    server = _Server(config, ready)
    with suppress(KeyboardInterrupt):  # the signal, raised again when all is done
        server.run(sockets)


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None and self.started:
            self._ready()
