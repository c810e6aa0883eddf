"""The contract of dialects of the service: unique paths, and one line for every bad request, never a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="pip install 'hyperbaton[serve]'")

from hyperbaton.corpus import Bitext
from hyperbaton.decode import System
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.serve.app import make_app
from hyperbaton.serve.dialects import DIALECTS
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.guard import Keys
from hyperbaton.serve.options import Refusal, ServiceLimits
from hyperbaton.serve.service import Service

NAMES = list(DIALECTS)
BAD_BODIES = {
    "empty": b"",
    "bytes": b"\xff\xfe\x00{",
    "cut": b'{"q": "a", "text": ',
    "list": b"[1, 2]",
    "nested": b"[" * 100_000,
    "numbers": b'{"q": 3, "text": 3, "target": 3, "target_lang": 3, "source": 3, "tokens": 3, "name": 3}',
    "half a character": b'{"q": "\\ud800", "text": "\\ud800", "target": "en", "target_lang": "EN"}',
    "xml": b"<?xml version='1.0'?><methodCall><methodName>nothing</methodName></methodCall>",
    "entities": b'<!DOCTYPE a [<!ENTITY b "b">]><methodCall><methodName>&b;</methodName></methodCall>',
}


@pytest.fixture(scope="module")
def system() -> System:
    bitext = Bitext.of(["das haus", "ja"], ["the house", "yes"], [[(0, 0), (1, 1)], [(0, 0)]])
    return System.of(PhraseTable.build(bitext, extract(bitext)))


@pytest.fixture(scope="module")
def services(system: System) -> Iterator[dict[str, Service]]:
    """A service without keys, and one that requires them."""
    made = {
        name: Service([Engine("german", system, "de", "en")], ServiceLimits(workers=1), keys=keys)
        for name, keys in (("open", None), ("keys", Keys(["secret-key"])))
    }
    yield made
    for service in made.values():
        service.close()


def ask(service: Service, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> tuple[int, str]:
    """Status and body of the answer to one request, without a network."""
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        asleep = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not messages:
                await asleep.wait()
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"content-type", kind.encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        await make_app(service)(scope, receive, send)

    asyncio.run(run())
    text = b"".join(message.get("body", b"") for message in sent).decode()
    return sent[0]["status"], text


def requests(name: str, service: Service) -> list[tuple[str, str]]:
    """Method and path of everything that a dialect answers, with something in place of its parameters."""
    routes = DIALECTS[name](service).routes()
    return [
        (method, route.path.replace("{pair}", "de-en").replace("{id}", "none").replace("{name}", "none"))
        for route in routes
        for method in sorted(route.methods - {"HEAD"})
    ]


def test_no_two_dialects_share_a_path(services: dict[str, Service]) -> None:
    every = [request for name in NAMES for request in requests(name, services["open"])]
    assert len(every) == len(set(every)) and all(path.startswith("/") and "{" not in path for _, path in every)
    assert all(requests(name, services["open"]) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", BAD_BODIES)
def test_bad_requests_are_refused_in_one_line(name: str, body: str, services: dict[str, Service]) -> None:
    for method, path in requests(name, services["open"]):
        for kind in ("application/json", "text/xml", "application/x-www-form-urlencoded"):
            status, text = ask(services["open"], method, path, BAD_BODIES[body], kind)
            assert status < 500 or status == 501, (method, path, kind, text)  # 501: not offered by this service
            assert "Traceback" not in text and len(text.strip().splitlines()) < 50
            if status >= 400:
                assert len(text) < 1000


@pytest.mark.parametrize("name", NAMES)
def test_without_a_key_nothing_is_translated(name: str, services: dict[str, Service]) -> None:
    """Paths that need no key respond the same with and without one, whatever the body."""
    for method, path in requests(name, services["keys"]):
        status, text = ask(
            services["keys"], method, path, b'{"q": "ja", "text": "ja", "target": "en", "target_lang": "EN"}'
        )
        if status != 403:
            assert method == "GET" and "yes" not in text, (method, path, text)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [400, 403, 404, 413, 429, 504])
def test_a_refusal_keeps_its_words(name: str, status: int, services: dict[str, Service]) -> None:
    response = DIALECTS[name](services["open"]).error(Refusal(status, "this is why", 7 if status == 429 else None))
    body = bytes(response.body).decode()
    assert "this is why" in body
    # A fault of XML-RPC is an answer: only its body says that it is one.
    assert response.status_code == status or (response.status_code == 200 and "<fault>" in body)
    if status == 429:
        assert response.headers["retry-after"] == "7"
    if response.headers["content-type"].startswith("application/json"):
        assert json.loads(body)
