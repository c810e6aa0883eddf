"""Refuses what no honest client sends, and tells browsers how little they may do with responses.

A page from elsewhere must not read the service under a name that its owner points here (so Host must name this machine),
nor send it forms (so Origin must be this service). A request whose length is given twice is refused, because a proxy and
this service might disagree about where it ends (RFC 9112, section 6.1). Of API keys only hashes are kept, which are
compared in constant time.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import os
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines, shown
from hyperbaton.serve.options import Refusal

HEALTH = "/health"  # answered regardless of the limits
NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
# The types of bodies that browsers send to other sites without asking these first.
FORMS = ("", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


class Guard:
    """Checks requests before the application sees them.

    Arguments:
        hosts: names of this service besides those of the machine itself; `*` allows all.
        origins: origins of other pages that may send forms; `*` allows all.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = (), origins: Collection[str] = ()) -> None:
        self.app, self.hosts, self.origins = app, {host.lower() for host in hosts}, origins
        self._is_own = lru_cache(100)(self._names_this)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        above_limits: Refusal | None = scope["state"].get("refusal")  # of the connection
        refusal = None
        if "transfer-encoding" in headers and ("content-length" in headers or scope["http_version"] == "1.0"):
            refusal = Refusal(400, "a request must have Content-Length or Transfer-Encoding, not both")
        if scope["path"] != HEALTH:
            refusal = refusal or above_limits or self._foreign(headers, scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                added["X-Content-Type-Options"] = "nosniff"
                added.setdefault("Content-Security-Policy", NO_PAGE)
                if refusal or above_limits:
                    added["Connection"] = "close"
            await send(message)

        answer = JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers) if refusal else self.app
        await answer(scope, receive, guarded)

    def _foreign(self, headers: Headers, scope: Scope) -> Refusal | None:
        """The refusal of a request by a page of another site."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return Refusal(421, f"this service is not called {host[:60]!r}; --allowed-host adds a name")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if scope["method"] in ("GET", "HEAD", "OPTIONS") or kind not in FORMS or origin is None:
            return None
        if site == "same-origin" or origin in self.origins or "*" in self.origins:
            return None
        if site is None and origin.partition("://")[2] == host:
            return None
        return Refusal(403, f"forms of {origin[:60]} are not accepted; --cors allows an origin")

    def _names_this(self, host: str) -> bool:
        """Whether a Host header names this service: an address cannot be made to point elsewhere, a name can."""
        with suppress(ValueError):
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
            if name in ("", "localhost", *self.hosts) or "*" in self.hosts:
                return True
            ipaddress.ip_address(name.partition("%")[0])
            return True
        return False


def page_policy(page: str) -> str:
    """The content security policy of a page: its own scripts, and requests to this service."""
    scripts = [after.partition("</script>")[0] for after in page.split("<script>")[1:]]
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


SHORTEST = 8


class Keys:
    """The allowed keys; without any, no key is required."""

    def __init__(self, keys: list[str]) -> None:
        self._salt = os.urandom(16)
        self._hashes = [self._hash(key) for key in keys]

    @classmethod
    def read(cls, path: str) -> Keys:
        """Read a file of keys; empty lines and those that start with # are ignored."""
        keys = []
        for n, line in enumerate(read_lines(path), start=1):
            key = line.strip()
            if not key or key.startswith("#"):
                continue
            if len(key) < SHORTEST or not key.isascii() or any(c.isspace() for c in key):
                raise InputError(f"a key must have at least {SHORTEST} ASCII characters and no blanks", shown(path), n)
            keys.append(key)
        if not keys:
            raise InputError("the file contains no key", shown(path))
        return cls(keys)

    @property
    def are_needed(self) -> bool:
        return bool(self._hashes)

    def owner(self, key: str | None) -> str | None:
        """The owner of a key, as a short name that does not reveal the key; None if it is not allowed."""
        if not self._hashes:
            return ""
        digest = self._hash(key or "")
        # Compare with all of them: the time taken must reveal nothing.
        right = [hmac.compare_digest(digest, allowed) for allowed in self._hashes]
        return f"key{right.index(True) + 1}" if any(right) else None

    def _hash(self, key: str) -> bytes:
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=32).digest()
