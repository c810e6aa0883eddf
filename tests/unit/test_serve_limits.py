"""Limits and keys of the service, bad requests, and clients that misbehave."""

from __future__ import annotations

import ast
import asyncio
import http.client
import json
import re
import socket
import threading
import time
import weakref
import xmlrpc.client
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hyperbaton import serve as serving
from hyperbaton.base.errors import Cancelled, InputError
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.serve.batching import Batcher, Job
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.guard import Keys
from hyperbaton.serve.options import Refusal, ServiceLimits
from hyperbaton.serve.server import listen
from tests.clocks import wait_for
from tests.unit.services import GOOD, JSON, Running, Slow, running, waiting


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/translate", b"{", 400, "not valid JSON"),
        ("/translate", b"\xff\xfe{", 400, "not valid UTF-8"),
        ("/translate", b"[1]", 400, "must be a JSON object"),
        ("/translate", b'{"q": "\\ud800", "source": "de", "target": "en"}', 400, "an unpaired surrogate"),
        ("/translate", b"[" * 100_000, 400, "nested too deeply"),
        ("/translate", b'{"a":' + b"9" * 5000 + b"}", 400, "not valid JSON"),
        ("/translate", {"q": 3, "source": "de", "target": "en"}, 400, "q must be a string or a list of strings"),
        ("/translate", {"source": "de", "target": "en"}, 400, "q is missing"),
        ("/translate", GOOD | {"source": "xx"}, 400, "there is no system for xx to en; there are: de-en, fr-en"),
        ("/translate", GOOD | {"format": "pdf"}, 400, "format must be one of text, html"),
        ("/translate", GOOD | {"q": "x" * 20_001}, 413, "may have 20000 characters, not 20001"),
        ("/translate", GOOD | {"q": ["x"] * 1001}, 413, "may have 1000 texts"),
        ("/translate", GOOD | {"alternatives": 1000}, 400, "alternatives must be between 0 and 20"),
        ("/v2/translate", {"text": ["a"]}, 400, "target_lang is missing"),
        ("/v2/translate", {"text": "a", "target_lang": "EN", "glossary_id": "x"}, 404, "no such glossary"),
        ("/v1/translate", {}, 400, "give either text or tokens"),
        ("/v1/translate", {"text": "a", "source": "de", "options": {"stack": 9}}, 400, "'stack' cannot be changed"),
        ("/v1/translate", {"text": "a", "source": "de", "options": {"distortion-limit": 999}}, 400, "between 0 and 50"),
        ("/v1/translate", {"text": "a", "source": "de", "constraints": [{"demands": [[0, 9, "b"]]}]}, 400, "the span 0-9"),
        ("/v1/translate", {"text": "a", "source": "de", "constraints": [{"demands": 3}]}, 400, "a constraint is"),
        ("/v1/align", {"src_tokens": ["a b"], "trg_tokens": ["c"]}, 400, "without blanks"),
        ("/v2/glossaries", {"name": "a", "source_lang": "de", "target_lang": "en", "entries": "a"}, 400, "entry 1 of the"),
        ("/nowhere", {}, 404, "nothing at this path"),
        ("/languages", {}, 405, "does not take POST"),
    ],
)
def test_errors_of_bad_requests_give_the_reason(
    running_service: Running, path: str, body: Any, status: int, message: str
) -> None:
    answer = running_service.ask(path, body, headers=JSON)
    assert answer[0] == status, answer
    assert message in json.dumps(answer[1], ensure_ascii=False)
    assert running_service.ask("/translate", GOOD)[1] == {"translatedText": "Yes!"}


def test_every_status_is_documented() -> None:
    """The table of docs/serve.md has each status that the sources name, and no other."""
    # Those of the web framework (unknown path, wrong method) and the server (connections, heads) are in no such call.
    statuses = {200, 404, 405, 431, 503}
    for path in Path(serving.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                places = {"Refusal": node.args[:1]}.get(node.func.id, node.args[1:2])
                places += [keyword.value for keyword in node.keywords if keyword.arg == "status_code"]
                if node.func.id == "Refusal" or node.func.id.endswith("Response"):
                    statuses |= {at.value for at in places if isinstance(at, ast.Constant) and isinstance(at.value, int)}
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
    assert {int(status) for status in re.findall(r"^\| (\d{3}) \|", page, re.MULTILINE)} == statuses


def test_large_bodies_are_refused(running_service: Running) -> None:
    for size in (1_000_001, 10_000_000):
        status, answer = running_service.ask("/translate", b"x" * size, headers=JSON)
        assert (status, answer) == (413, {"error": "the body may have 1000000 bytes"})
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbb">]><methodCall><methodName>&b;</methodName></methodCall>'
    assert "plain XML" in running_service.ask("/RPC2", bomb)[1]


def test_slow_and_vanishing_clients(german: System) -> None:
    with running([Engine("german", german, "de", "en")], ServiceLimits(read_timeout=0.5)) as service:
        head = (
            b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", service.port)) as slow:
            slow.sendall(head + b'{"q":')
            slow.settimeout(10)
            assert slow.recv(1000).startswith(b"HTTP/1.1 408")
        with socket.create_connection(("127.0.0.1", service.port)) as silent:
            silent.sendall(b"POST /trans")
            silent.settimeout(10)
            assert silent.recv(1000) == b""  # closed
        for cut in (head, head + b'{"q": "Ja"', b"GET /hea"):
            with socket.create_connection(("127.0.0.1", service.port)) as gone:
                gone.sendall(cut)
        assert service.ask("/translate", GOOD)[0] == 200


def test_small_pieces_of_responses_are_sent_at_once() -> None:
    async def option() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = listen("127.0.0.1", 0)
        async with await asyncio.start_server(accept, sock=listening):
            with socket.create_connection(listening.getsockname()):
                return await accepted

    with ThreadPoolExecutor(1) as pool:  # another test may have left a loop in this thread
        assert pool.submit(asyncio.run, option()).result(10) == 1


def test_a_full_queue_refuses(german: System) -> None:
    with waiting(german, ServiceLimits(queue=2, workers=1, batch=1)) as service, ThreadPoolExecutor(3) as pool:
        asked = []
        for n in (0, 1, 2):
            asked.append(pool.submit(service.ask, "/translate", GOOD))
            wait_for(lambda n=n: service.service.batcher.n_running + service.service.batcher.n_waiting == n + 1)  # type: ignore[misc]
        status, answer = service.ask("/translate", GOOD)
        assert (status, answer) == (429, {"error": "too many requests are waiting; try again later"})
        assert service.ask("/health")[1]["waiting"] == 2
        Slow.wait.set()
        assert [one.result()[0] for one in asked] == [200] * 3
        assert 'hyperbaton_requests_total{path="/translate",status="429"} 1' in service.ask("/metrics")[1]


def test_a_request_that_takes_too_long_is_abandoned(german: System) -> None:
    with waiting(german, ServiceLimits(timeout=0.3, workers=1)) as service:
        status, answer = service.ask("/translate", GOOD)
        assert status == 504 and "not ready after 0.3 seconds" in answer["error"]
        wait_for(lambda: service.service.batcher.n_running == 0)  # the search was stopped
        service.service.limits = ServiceLimits(workers=1)  # a busy machine may need longer for the next
        Slow.wait.set()
        assert service.ask("/translate", GOOD)[0] == 200


def test_workers_abandon_late_jobs_and_keep_none() -> None:
    batcher = Batcher(n_workers=1, capacity=2, batch=1)
    late = Job("key", 1, None, lambda jobs: None, deadline=time.monotonic() - 1)
    batcher.submit(late)
    assert isinstance(late.future.exception(10), Cancelled)  # of which the service makes one status, 504
    done = Job("key", 1, ServiceLimits(), lambda jobs: jobs[0].finish(1), deadline=time.monotonic() + 60)
    work = weakref.ref(done.work)
    batcher.submit(done)
    assert done.future.result(10) == 1
    del done
    wait_for(lambda: work() is None)  # a worker that waits holds nothing of the jobs it did
    batcher.close()


def test_clients_take_turns() -> None:
    go = threading.Event()
    begun: list[str] = []

    def run(jobs: Sequence[Job]) -> None:
        begun.extend(job.work for job in jobs)
        go.wait(30)
        if jobs[0].client == "spare":
            wait_for(lambda: len(begun) == 7)
        for job in jobs:
            job.finish(None)

    def make(client: str, work: str, key: str = "") -> Job:
        return Job(key or work, 1, work, run, time.monotonic() + 60, client)

    batcher = Batcher(n_workers=1, capacity=5, batch=2)
    greedy = [make("a", f"a{n}") for n in range(6)]
    batcher.submit(greedy[0])
    wait_for(lambda: begun == ["a0"])
    batcher.submit(greedy[1])
    batcher.submit(make("spare", "s0"))
    wait_for(lambda: begun == ["a0", "s0"])  # another client need not wait for the first job
    for job in greedy[2:]:
        batcher.submit(job)
    with pytest.raises(Refusal, match="too many requests"):
        batcher.submit(make("a", "a6"))
    # Each takes the place of a job of the client that has most.
    for job in (make("b", "b0", "a1"), make("c", "c0"), make("b", "b1"), make("d", "d0", "a1")):
        batcher.submit(job)
    for job in greedy[2:]:
        with pytest.raises(Refusal, match="too many requests"):
            job.future.result(0)
    with pytest.raises(Refusal, match="too many requests"):
        batcher.submit(make("d", "d1"))
    go.set()
    batcher.close(30)
    assert begun == ["a0", "s0", "a1", "b0", "b1", "c0", "d0"]  # b0 is in the batch of a1


def test_an_idle_worker_takes_a_job_while_the_spare_one_works() -> None:
    go = {name: threading.Event() for name in "abc"}

    def run(jobs: Sequence[Job]) -> None:
        go[jobs[0].work].wait(30)
        jobs[0].finish(None)

    batcher = Batcher(n_workers=1, capacity=2, batch=1)
    a, b, c = (Job(name, 1, name, run, time.monotonic() + 60, name) for name in go)
    batcher.submit(a)
    batcher.submit(b)
    wait_for(lambda: batcher.n_running == 2)
    go["a"].set()
    wait_for(lambda: batcher.n_running == 1)
    go["c"].set()
    batcher.submit(c)
    assert c.future.result(10) is None and not b.future.done()
    go["b"].set()
    batcher.close(30)


def test_work_stops_when_the_client_disconnects(german: System) -> None:
    with waiting(german, ServiceLimits(workers=1)) as service:
        body = json.dumps(GOOD).encode()
        with socket.create_connection(("127.0.0.1", service.port)) as gone:
            head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            gone.sendall(head.encode() + body)
            wait_for(lambda: service.service.batcher.n_running == 1)
        wait_for(lambda: service.service.batcher.n_running == 0)
        assert any(" 499 " in line for line in service.log)


def test_a_failing_request_does_not_spoil_its_batch(german: System, monkeypatch: pytest.MonkeyPatch) -> None:
    original = TokenTranslator.search

    def fail(self: TokenTranslator, sentences: Any, *arguments: Any, **options: Any) -> Any:
        if any("unlucky" in line for line in sentences.lines):
            raise RuntimeError("inside")
        return original(self, sentences, *arguments, **options)

    with waiting(german, ServiceLimits(workers=1)) as service, ThreadPoolExecutor(4) as pool:
        first = pool.submit(service.ask, "/translate", GOOD)
        wait_for(lambda: service.service.batcher.n_running == 1)
        asked = [pool.submit(service.ask, "/translate", GOOD | {"q": q}) for q in ("Ja!", "unlucky", "das Haus")]
        wait_for(lambda: service.service.batcher.n_waiting == 3)
        monkeypatch.setattr(TokenTranslator, "search", fail)
        Slow.wait.set()
        assert first.result()[0] == 200
        assert [one.result()[0] for one in asked] == [200, 500, 200]


def test_keys(german: System, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# people\nfirst-key-1\nsecond-key-2\n", encoding="utf-8")
    with running([Engine("german", german, "de", "en")], keys=Keys.read(str(path)), cors=["http://a.org"]) as service:
        for body in (GOOD, GOOD | {"api_key": "wrong"}, GOOD | {"api_key": None}):
            assert service.ask("/translate", body)[0] == 403
        assert service.ask("/translate", GOOD | {"api_key": "second-key-2"})[0] == 200
        for name, value in (
            ("Authorization", "DeepL-Auth-Key first-key-1"),
            ("Authorization", "Bearer first-key-1"),
            ("X-API-Key", "first-key-1"),
        ):
            assert service.ask("/v2/usage", headers={name: value})[0] == 200
        assert service.ask("/v2/usage")[0] == 403 and service.ask("/RPC2", b"<a/>")[0] == 403
        assert service.ask("/health")[0] == 200 and service.ask("/frontend/settings")[1]["apiKeys"] is True
        own = xmlrpc.client.ServerProxy(f"http://me:first-key-1@127.0.0.1:{service.port}/RPC2")
        assert own.translate({"text": "ja"})["text"] == "yes "  # type: ignore[index,call-overload]
        own("close")()
        # Glossaries belong to the key that made them.
        first, second = ({"X-API-Key": key} for key in ("first-key-1", "second-key-2"))
        glossary = {"name": "a", "source_lang": "de", "target_lang": "en", "entries": "ja\tyep"}
        status, made = service.ask("/v2/glossaries", glossary, headers=first)
        assert status == 201 and service.ask(f"/v2/glossaries/{made['glossary_id']}", headers=second)[0] == 404
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        for origin, allowed in (("http://a.org", "http://a.org"), ("http://b.org", None)):
            connection.request("GET", "/health", headers={"Origin": origin})
            response = connection.getresponse()
            response.read()
            assert response.getheader("access-control-allow-origin") == allowed
        connection.close()
    assert not any("first-key-1" in line or "Ja!" in line for line in service.log)
    assert any("POST /translate 200" in line and "de-en 3 characters key2" in line for line in service.log)
    path.write_text("short\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"keys:1: a key must have at least 8 ASCII characters"):
        Keys.read(str(path))


def test_the_log_has_texts_only_on_request(german: System) -> None:
    with running([Engine("german", german, "de", "en")], log_texts=True) as service:
        service.ask("/translate?q=Ja!&source=de&target=en", b"")
    assert any('["Ja!"]' in line for line in service.log)
