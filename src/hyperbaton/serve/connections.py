"""Limits on connections: how many there may be, and how long each may take.

Every request must be received in time, from the first byte of its head to the last of its body, and its response must be
read in time; between requests a connection may stay idle for a while. Connections above the limits are still read,
because `/health` is always answered; other requests on them are refused, and they are closed afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections import Counter
from functools import lru_cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hyperbaton.serve.options import Refusal, ServiceLimits

REFUSED_TIMEOUT = 2.0  # seconds to send a request on a connection that is above the limits
GRACE = 1.0  # seconds after which a body is late even if the application waits for it
SLOWEST = 1000  # bytes per second at which a client must read its response
LONGEST_HEAD = 16_384  # bytes
PIECE = 16_384  # bytes that are parsed before other connections get their turn


class Open:
    """The open connections, by address."""

    def __init__(self, limits: ServiceLimits, most: int | None = None) -> None:
        self.limits, self.most = limits, min(limits.max_connections, most or limits.max_connections)
        self._by_client: Counter[str] = Counter()

    def add(self, client: str) -> Refusal | None:
        """Count a connection; returns the refusal of its requests if it is above the limits."""
        self._by_client[client] += 1
        if 0 < self.limits.max_client_connections < self._by_client[client]:
            return Refusal(429, "there are too many connections from this address; try again later", 1)
        if self._by_client.total() > self.most:
            return Refusal(503, "there are too many connections; try again later", 1)
        return None

    def remove(self, client: str) -> None:
        self._by_client[client] -= 1
        if not self._by_client[client]:
            del self._by_client[client]

    @property
    def is_full(self) -> bool:
        """Whether even refused connections must be closed, because there are more than twice `most`."""
        return self._by_client.total() > 2 * self.most


@lru_cache(1000)
def client_of(host: str) -> str:
    """The address by which connections are counted: for IPv6 the network, which belongs to one client.

    >>> client_of("10.1.2.3"), client_of("2001:db8::1:2"), client_of("::ffff:10.1.2.3"), client_of("")
    ('10.1.2.3', '2001:db8::/64', '10.1.2.3', '')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


class Protocol(H11Protocol):
    """HTTP with a time limit for everything a client does."""

    opened: Open  # set by a derived class, one for each server

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        with contextlib.suppress(AttributeError):  # of asyncio's own transports
            transport.max_size = PIECE
        self._client = client_of(self.client[0] if self.client else "")
        self._phase: tuple[str, object] = ("", None)
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._discards = False
        self._refusal = self.opened.add(self._client)
        if self._refusal is not None:
            self.app_state = self.app_state | {"refusal": self._refusal}
        if self.opened.is_full:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self.opened.remove(self._client)
        for timer in (self._timer, self._writing):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._discards:
            super().data_received(data)
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """Answer a head that is not HTTP, or too long, and discard the rest: an early close would hide the answer."""
        status, reason = (431, b"the head of the request is too long") if self._is_long else (400, msg.encode())
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")]
        events = (h11.Response(status_code=status, headers=headers), h11.Data(data=reason), h11.EndOfMessage())
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.write_eof()
        self._discards = True
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(REFUSED_TIMEOUT, self.transport.abort)

    @property
    def _is_long(self) -> bool:
        return len(self.conn.trailing_data[0]) > LONGEST_HEAD

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()
        if self.transport.is_closing():  # when the response has been read
            self._watch_writing()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_writing()

    def _watch(self) -> None:
        """Start the clock when the client has something new to do; it is not reset while that continues."""
        if self._discards:
            return
        limits = self.opened.limits
        reading = limits.read_timeout if self._refusal is None else min(limits.read_timeout, REFUSED_TIMEOUT)
        answering = self.cycle is not None and not self.cycle.response_complete
        if self.cycle is not None and self.conn.their_state is h11.SEND_BODY:
            name, seconds = "body", reading + GRACE
        elif answering:
            name, seconds = "answer", 0.0
        elif self.cycle is None or self.conn.trailing_data[0]:
            name, seconds = "head", reading
        else:
            name, seconds = "idle", limits.keep_alive
        if self._phase == (name, self.cycle):
            return
        self._phase = (name, self.cycle)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.transport.abort) if seconds else None

    def _watch_writing(self) -> None:
        if self._writing is None:
            self._check_writing(None)

    def _check_writing(self, before: int | None) -> None:
        """Continue while the client reads its response."""
        seconds, left = self.opened.limits.read_timeout, self.transport.get_write_buffer_size()
        self._writing = None
        if before is not None and left > before - SLOWEST * seconds:
            self.transport.abort()
        elif left:
            self._writing = self.loop.call_later(seconds, self._check_writing, left)
