"""Run the application until a signal stops it: then finish accepted requests and accept no more.

SIGHUP reopens the systems, unless it means that the program's terminal was closed.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.serve.connections import LONGEST_HEAD, Open, Protocol
from hyperbaton.serve.options import ServiceLimits

log = logging.getLogger(__name__)

FILES = 128  # open files other than connections


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 chooses a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # which asyncio needs for TCP_NODELAY
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = error.strerror if isinstance(error, OSError) else error
        raise HyperbatonError(f"cannot listen at {host}:{port}: {reason}") from error
    return listening


def serve(
    app: Starlette,
    sockets: list[socket.socket],
    limits: ServiceLimits,
    ready: Callable[[], None] | None = None,
    reload: Callable[[], None] | None = None,
) -> None:
    """Answer requests until SIGINT or SIGTERM, then finish the accepted ones. SIGHUP calls `reload` in a thread."""
    opened = Open(limits, _most_connections(limits))
    config = uvicorn.Config(
        app,
        http=type("Protocol", (Protocol,), {"opened": opened}),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_keep_alive=math.ceil(limits.keep_alive),
        timeout_graceful_shutdown=int(limits.timeout) + 5,
    )
    for name in ("uvicorn.error", "python_multipart"):  # which warn of every bad request
        logging.getLogger(name).setLevel(logging.ERROR)
    server = _Server(config, ready, reload)
    with suppress(KeyboardInterrupt):  # the signal is raised again at the end
        server.run(sockets)


def _most_connections(limits: ServiceLimits) -> int:
    """The number of connections that this process can have; the same number again can be refused."""
    wanted = 2 * limits.max_connections + FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return limits.max_connections
    most = max((soft - FILES) // 2, 1)
    log.warning(
        "this process may open %d files, which is enough for %d connections, not %d", soft, most, limits.max_connections
    )
    return most


class _Server(uvicorn.Server):
    """Reports when it is ready, and reloads on SIGHUP."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] | None, reload: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._ready, self._reload = ready, reload
        self._reloading: asyncio.Future[None] | None = None
        self._hung_up = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None and self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            if self._reload is None or threading.current_thread() is not threading.main_thread():
                yield
                return
            before = signal.signal(signal.SIGHUP, self._hang_up)
            # If the signal was ignored (nohup), closing the terminal does not end the program.
            self._ends_with_terminal = before is not signal.SIG_IGN and _has_terminal()
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, before)

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        if self._ends_with_terminal and not _has_terminal():
            self.handle_exit(number, frame)
        self._hung_up = True

    async def on_tick(self, counter: int) -> bool:
        if self._hung_up and self._reload is not None and (self._reloading is None or self._reloading.done()):
            self._hung_up = False
            self._reloading = asyncio.ensure_future(asyncio.to_thread(self._reload))
        return await super().on_tick(counter)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
