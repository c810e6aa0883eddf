"""Services for tests: they answer at a port of this machine."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.raw import RawTranslator
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.serve.app import make_app
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.options import ServiceLimits
from hyperbaton.serve.server import listen, serve
from hyperbaton.serve.service import Service

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()
GERMAN = ["das alte haus steht in köln , sagte sie .", "ja , das haus !", "sie sagte : das haus ist alt ?"]
ENGLISH = ["the old house stands in Cologne , she said .", "yes , the house !", "she said : the house is old ?"]
TEXT = "Das alte Haus steht in Köln, sagte sie. Ja!\n\nDas <b>Haus</b> ist alt?"
JSON = {"Content-Type": "application/json"}
GOOD = {"q": "Ja!", "source": "de", "target": "en"}


@dataclass
class Running:
    """A service that answers at a port of this machine."""

    port: int
    service: Service
    log: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, body: Any = None, *, method: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and answer; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        all_headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body, all_headers = json.dumps(body).encode(), {"Content-Type": "application/json"} | all_headers
        connection.request(method or ("GET" if body is None else "POST"), path, body, all_headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text


@contextmanager
def running(
    engines: list[Engine],
    limits: ServiceLimits | None = None,
    *,
    cors: Sequence[str] = (),
    hosts: Sequence[str] = (),
    **options: Any,
) -> Iterator[Running]:
    log: list[str] = []
    service = Service(engines, limits, log=log.append, **options)
    listening, ready = listen("127.0.0.1", 0), threading.Event()
    port = listening.getsockname()[1]
    app = make_app(service, cors=cors, hosts=hosts)
    servers: list[Any] = []
    original = uvicorn.Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        servers.append(self)
        await original(self, sockets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "startup", startup)
        thread = threading.Thread(target=serve, args=(app, [listening], service.limits, ready.set), daemon=True)
        thread.start()
        assert ready.wait(20)
    try:
        yield Running(port, service, log)
    finally:  # a thread that goes on holds objects of the core when Python ends
        servers[0].should_exit = True
        thread.join(20)
        listening.close()
    assert not thread.is_alive()


def german_system() -> System:
    """A system of three sentence pairs that translates raw German text."""
    links = [[(i, i) for i in range(9)], [(i, i) for i in range(5)], [(i, i) for i in range(8)]]
    links[0][6:8] = [(7, 8 - 1), (6, 6)]
    bitext = Bitext.of(GERMAN, ENGLISH, links)
    lexicalized = MODELS["lexicalized"]().fit(bitext)
    text = TextProcessing(TextSide("de", "sacremoses", "lowercase"), TextSide("en", "sacremoses", "lowercase"))
    return System.of(PhraseTable.build(bitext, extract(bitext)), reordering={"LR": lexicalized}).with_text(text)


@contextmanager
def running_both(german: System, moses: System) -> Iterator[Running]:
    """A service of two systems, with an aligner."""
    source, target = (
        ["das haus", "das buch", "ein buch", "ja", "ein haus"],
        ["the house", "the book", "a book", "yes", "a house"],
    )
    aligner = Aligner().fit(Bitext.of([*GERMAN, *source], [*ENGLISH, *target]))
    engines = [Engine("german", german, "de", "en", aligner=aligner), Engine("moses", moses, "fr", "en")]
    with running(engines, aligner=aligner) as service:
        yield service


def translated_text(german: System) -> str:
    """The text of the tests, as `translate` translates it."""
    return RawTranslator(TokenTranslator(german)).translate([TEXT])[0]


class Slow(TokenTranslator):
    """Waits before it translates."""

    wait = threading.Event()

    def search(self, *arguments: Any, **options: Any) -> Any:
        while not self.wait.wait(0.01):
            if options["progress"] is not None and options["progress"](0, 1) is False:
                raise Cancelled("stopped")  # as the core does
        return super().search(*arguments, **options)


@contextmanager
def waiting(german: System, limits: ServiceLimits) -> Iterator[Running]:
    """A service whose searches wait."""
    Slow.wait.clear()
    engine = Engine("german", german, "de", "en")
    engine.translator = lambda options, weights: Slow(german, options)  # type: ignore[method-assign]
    try:
        with running([engine], limits) as service:
            yield service
    finally:
        Slow.wait.set()
