"""The service under attack: slow clients, many connections, large and nested forms, texts that take long; and SIGHUP."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="pip install 'hyperbaton[serve]'")
pytest.importorskip("uvicorn", reason="pip install 'hyperbaton[serve]'")

from benchmarks.fuzz.service import GROWTH, TEXTS, half_head, nested_form, part

from hyperbaton.base.errors import ArtefactError
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import Decoding, System
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.serve import service as service_module
from hyperbaton.serve.connections import Open, Protocol
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.fields import parse_body
from hyperbaton.serve.guard import Keys
from hyperbaton.serve.options import Refusal, ServiceLimits
from tests.clocks import wait_for
from tests.program import started
from tests.unit.services import GOOD, Running, Slow, running

FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def encoded(how: str) -> bytes:
    return part("q", "YQ==").replace(b"\r\n\r\n", f"\r\nContent-Transfer-Encoding: {how}\r\n\r\n".encode())


def make_system(word: str) -> System:
    """A system that translates `ja`, and whose search takes no time."""
    bitext = Bitext.of(["ja", "nein"], [word, "no"], [[(0, 0)], [(0, 0)]])
    text = TextProcessing(TextSide("de", "sacremoses", "lowercase"), TextSide("en", "sacremoses", "lowercase"))
    table, options = PhraseTable.build(bitext, extract(bitext)), Decoding(stack=2, pop_limit=2, distortion_limit=0)
    return System.of(table, weights={"PhrasePenalty0": -1.0}, options=options).with_text(text)


@pytest.fixture(scope="module")
def system() -> System:
    return make_system("yes")


@contextlib.contextmanager
def serving(system: System, **limits: Any) -> Iterator[Running]:
    with running([Engine("small", system, "de", "en")], ServiceLimits(**limits)) as service:
        yield service


@pytest.fixture(scope="module")
def small(system: System) -> Iterator[Running]:
    with serving(system) as service:
        yield service


def connect(service: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=20)


def get(client: socket.socket, path: str) -> bytes:
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return answer_of(client)


def answer_of(client: socket.socket) -> bytes:
    """All of an answer; nothing if the connection is closed."""
    answer = b""
    while (piece := client.recv(10_000)) != b"":
        answer += piece
        head, end, body = answer.partition(b"\r\n\r\n")
        if end and len(body) == int(head.lower().partition(b"content-length: ")[2].split()[0]):
            break
    return answer


def test_every_request_must_arrive_in_time(system: System) -> None:
    with serving(system, read_timeout=0.3, keep_alive=20) as service, connect(service) as slow:
        assert get(slow, "/health").startswith(b"HTTP/1.1 200")
        slow.sendall(half_head())
        assert slow.recv(100) == b""  # closed, though it was not idle
        with connect(service) as silent:
            head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
            silent.sendall(head)  # answered before its body is there, which never comes
            assert answer_of(silent).startswith(b"HTTP/1.1 404")
            assert silent.recv(1000) == b""


def test_idle_connections_are_closed(system: System) -> None:
    with serving(system, keep_alive=0.2) as service, connect(service) as idle:
        assert get(idle, "/health").startswith(b"HTTP/1.1 200")
        assert idle.recv(100) == b""


@pytest.mark.parametrize(("limits", "status"), [({"max_client_connections": 2}, b"429"), ({"max_connections": 2}, b"503")])
def test_too_many_connections_are_refused_but_health_is_not(system: System, limits: Any, status: bytes) -> None:
    with serving(system, **limits) as service:
        with contextlib.ExitStack() as stack:
            held = [stack.enter_context(connect(service)) for _ in range(2)]
            for client in held:
                assert get(client, "/languages").startswith(b"HTTP/1.1 200")
            for path, expected in (("/languages", status), ("/health", b"200")):
                with connect(service) as refused:
                    answer = get(refused, path)
                    assert answer.split()[1] == expected and b"connection: close" in answer
                    assert b"too many connections" in answer or path == "/health"
                    assert refused.recv(100) == b""
        wait_for(lambda: service.ask("/languages")[0] == 200)  # when the others are gone


def test_connections_that_cannot_even_be_refused_are_closed(system: System) -> None:
    with serving(system, max_connections=1) as service, contextlib.ExitStack() as stack:
        held = [stack.enter_context(connect(service)) for _ in range(2)]
        assert get(held[0], "/health").startswith(b"HTTP/1.1 200")
        with connect(service) as refused, contextlib.suppress(ConnectionError):
            assert get(refused, "/health") == b""


def test_a_client_that_does_not_read_its_response_is_disconnected() -> None:
    later: list[tuple[Callable[..., None], Any]] = []
    ended: list[str] = []
    protocol = object.__new__(Protocol)
    protocol.opened, protocol._writing = Open(ServiceLimits(read_timeout=1.0)), None
    buffer = [100_000]
    protocol.transport = SimpleNamespace(  # type: ignore[assignment]
        get_write_buffer_size=lambda: buffer[0], abort=lambda: ended.append("aborted")
    )
    protocol.loop = SimpleNamespace(call_later=lambda seconds, call, *given: later.append((call, given)))  # type: ignore[assignment]
    protocol._watch_writing()
    buffer[0] = 50_000  # taken slowly
    call, given = later.pop()
    call(*given)
    assert not ended
    call, given = later.pop()
    call(*given)
    assert ended == ["aborted"] and not later


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_request_whose_length_is_given_twice_is_refused(small: Running, version: str) -> None:
    both = "Content-Length: 4\r\n" if version == "1.1" else ""
    head = f"POST /translate HTTP/{version}\r\nHost: localhost\r\n{both}Transfer-Encoding: chunked\r\n\r\n".encode()
    with connect(small) as client:
        client.sendall(head + b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = answer_of(client)
        assert answer.startswith(b"HTTP/1.1 400") and b"connection: close" in answer.lower()
        assert client.recv(100) == b""


@pytest.mark.parametrize(("head", "status"), [("GET /translate?q=" + "a" * 50_000, b"431"), ("nothing", b"400")])
def test_a_head_that_cannot_be_read_is_answered(small: Running, head: str, status: bytes) -> None:
    with connect(small) as client:
        client.sendall(f"{head} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() + b"x" * 100_000)
        answer = b"".join(iter(lambda: client.recv(1000), b""))
        assert answer.split()[1] == status


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("127.0.0.1:80", 200), ("[::1]:80", 200), ("mt.org", 200), ("a.org", 421), ("[a", 421)],
)
def test_requests_must_name_this_service(system: System, host: str, status: int) -> None:
    with running([Engine("small", system, "de", "en")], hosts=["MT.org"]) as service:
        assert service.ask("/languages", headers={"Host": host})[0] == status
        assert service.ask("/health", headers={"Host": host})[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://a.org"}, 403),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://b.org"}, 201),
        ({"Origin": "https://proxy.org", "Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": "http://localhost:1", "Host": "localhost:1"}, 201),
        ({"Origin": "http://a.org", "Content-Type": "application/json"}, 400),  # which browsers do not send unasked
        ({}, 201),
    ],
)
def test_forms_of_other_pages_are_refused(system: System, headers: dict[str, str], status: int) -> None:
    form = b"name=a&source_lang=de&target_lang=en&entries=ja%09yes"
    with running([Engine("small", system, "de", "en")], cors=["http://b.org"]) as service:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert service.ask("/v2/glossaries", form, headers=kind | headers)[0] == status
        assert len(service.ask("/v2/glossaries")[1]["glossaries"]) == (status == 201)


def test_paths_are_not_redirected(small: Running) -> None:
    assert [small.ask(path)[0] for path in ("/docs/", "/v2/glossaries/%2e%2e%2f")] == [404, 404]


def test_browsers_are_told_what_a_response_may_do(small: Running) -> None:
    with connect(small) as client:
        for path, policy in (
            ("/", b"script-src 'sha256-"),
            ("/docs", b"script-src 'none'"),
            ("/health", b"default-src 'none'"),
        ):
            head = get(client, path).partition(b"\r\n\r\n")[0].lower()
            assert b"x-content-type-options: nosniff" in head
            assert policy in head.partition(b"content-security-policy: ")[2].partition(b"\r\n")[0]


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (part("q", "a") * 18_000 + b"--x--", FORM, 413, "a form may have at most 1100 fields"),
        (b"q=a&" * 20_000, {}, 413, "a form may have at most 1100 fields"),
        (nested_form(2000), FORM, 400, "target is missing"),
        (part("q", "a"), FORM, 400, "its end is missing"),
        (b"--x\r\nno header\r\n--x--", FORM, 400, "the form is not valid multipart/form-data: "),
        (b"--x\r\nA: " + b"b" * 2000 + b"\r\n\r\na\r\n--x--", FORM, 400, "Maximum header size exceeded"),
        (encoded("rot13") + b"--x--", FORM, 400, "Unknown Content-Transfer-Encoding"),
        (b"--x--", {"Content-Type": "multipart/form-data"}, 400, "its boundary is missing"),
    ],
)
def test_forms_are_bounded(small: Running, body: bytes, headers: dict[str, str], status: int, message: str) -> None:
    found = small.ask("/translate", body, headers=headers)
    assert found[0] == status and message in found[1]["error"], found


def test_multipart_values_are_as_they_were_sent() -> None:
    body = part("q", " a\r\n--y ") + part("q[]", "b") + part("source", "") + b"--x--\r\n"
    assert parse_body('multipart/form-data; charset=utf-8; boundary="x"', body) == {"q": [" a\r\n--y ", "b"], "source": ""}
    file = part("q", "b").replace(b"\r\n\r\n", b'; filename="b.txt"\r\nContent-Type: text/plain\r\n\r\n')
    assert parse_body(FORM["Content-Type"], encoded("base64") + file + b"--x--") == {"q": ["a", "b"]}
    with pytest.raises(Refusal, match="not valid UTF-8"):
        parse_body(FORM["Content-Type"], part("q", "a").replace(b"a\r\n", b"\xff\r\n") + b"--x--")


def test_a_body_without_a_key_is_not_parsed(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []

    def parse(kind: str, body: bytes, most: int) -> dict[str, Any]:
        parsed.append(len(body))
        return parse_body(kind, body, most)

    monkeypatch.setattr(service_module, "parse_body", parse)
    with running([Engine("small", system, "de", "en")], keys=Keys(["first-key-1"])) as service:
        assert service.ask("/translate", part("q", "a") * 18_000, headers=FORM)[0] == 403
        assert service.ask("/translate", GOOD, headers={"X-API-Key": "wrong-key"})[0] == 403
        assert not parsed
        assert service.ask("/translate", GOOD, headers={"X-API-Key": "first-key-1"})[0] == 200
        assert service.ask("/translate", GOOD | {"api_key": "first-key-1"}, headers={"X-API-Key": "wrong-key"})[0] == 200
    assert len(parsed) == 2


def test_the_service_answers_while_a_request_takes_long(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(system, timeout=0.5) as service:
        started, go_on = threading.Event(), threading.Event()

        def detect(*arguments: Any) -> list[tuple[str, float]]:
            started.set()
            go_on.wait(20)
            return [("de", 100.0)]

        monkeypatch.setattr(service.service.detector, "detect", detect)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(service.ask, "/detect", {"q": "ja"})
            assert started.wait(20)
            assert service.ask("/health")[0] == 200
            assert asked.result() == (504, {"error": "the answer was not ready after 0.5 seconds"})
            go_on.set()


def test_work_is_abandoned_between_texts(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request of many texts that comes too late frees its thread."""
    with serving(system, timeout=0.3, workers=1) as service:
        raw = service.service.engines[0].raw
        read, texts = raw.read, []

        def slow(text: str, *options: Any) -> Any:
            texts.append(text)
            time.sleep(0.1)
            return read(text, *options)

        monkeypatch.setattr(raw, "read", slow)
        assert service.ask("/translate", GOOD | {"q": ["ja"] * 1000})[0] == 504
        wait_for(lambda: service.service.batcher.n_running == 0)
        assert len(texts) < 100


def test_processor_time_grows_with_the_length_of_the_text(small: Running) -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        status, answer = small.ask("/translate", GOOD | {"q": text})
        assert status == 200, answer
        return time.process_time() - start

    for unit in TEXTS[:6]:  # `benchmarks.fuzz.service` tries all of them
        short, long = ((unit * n)[:n] for n in (500, 2000))
        most = 4**GROWTH * 1.5  # times the time of a quarter of the text
        if (seconds_long := seconds(long)) > 0.1 and seconds_long > most * seconds(short):
            times = [min(seconds(text) for _ in range(3)) for text in (short, long)]  # one figure may be chance
            assert times[1] < most * times[0], f"{unit!r} takes {times}"


def replace_system(folder: Path, word: str) -> None:
    """Install a new version, as a user would."""
    make_system(word).save(folder.with_name("new"))
    shutil.rmtree(folder)
    folder.with_name("new").rename(folder)


def test_reload(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    make_system("yes").save(folder)
    engine = Engine.load(str(folder))
    with running([engine]) as service:
        assert service.ask("/translate", GOOD)[1] == {"translatedText": "Yes!"}
        replace_system(folder, "yeah")
        assert service.service.reload() == [f"reloaded de-en ({folder})"]
        assert service.ask("/translate", GOOD)[1] == {"translatedText": "Yeah!"}
        (folder / "manifest.json").write_text("{}", encoding="utf-8")
        (said,) = service.service.reload()
        assert said.startswith(f"cannot reload de-en ({folder}), the old one stays: ") and "\n" not in said
        replace_system(folder, "yep")

        def check(path: str) -> None:
            raise ArtefactError(f"{path} is damaged")

        assert "the old one stays" in service.service.reload(check=check)[0]
        assert service.ask("/translate", GOOD)[1] == {"translatedText": "Yeah!"}


def test_accepted_requests_finish_with_the_old_system(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    make_system("yes").save(folder)
    engine = Engine.load(str(folder))
    Slow.wait.clear()
    engine.translator = lambda options, weights: Slow(engine.system, options)  # type: ignore[method-assign]
    try:
        with running([engine], ServiceLimits(workers=1)) as service, ThreadPoolExecutor(3) as pool:
            batcher = service.service.batcher
            old = [pool.submit(service.ask, "/translate", GOOD)]
            wait_for(lambda: batcher.n_running == 1)
            old.append(pool.submit(service.ask, "/translate", GOOD))
            wait_for(lambda: batcher.n_waiting == 1)
            replace_system(folder, "yeah")
            service.service.reload()
            new = pool.submit(service.ask, "/translate", GOOD)
            wait_for(lambda: batcher.n_waiting == 2)
            Slow.wait.set()
            assert [one.result()[1]["translatedText"] for one in (*old, new)] == ["Yes!", "Yes!", "Yeah!"]
    finally:
        Slow.wait.set()


@contextlib.contextmanager
def program(folder: Path, **options: Any) -> Iterator[tuple[subprocess.Popen[str], Running]]:
    command = [sys.executable, "-m", "hyperbaton", "serve", str(folder), "--port", "0", "--quiet"]
    with started(command, stderr=subprocess.PIPE, text=True, **options) as process:
        yield process, Running(int(process.stderr.readline().split()[2].rpartition(":")[2]), None)  # type: ignore[arg-type]


def test_sighup_reloads(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    make_system("yes").save(folder)
    # Where the signal is ignored at first, as with nohup, too.
    ignore: Callable[[], Any] = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    with program(folder, preexec_fn=ignore, start_new_session=True) as (process, service):
        assert process.stderr is not None
        replace_system(folder, "yeah")
        process.send_signal(signal.SIGHUP)
        assert process.stderr.readline() == f"reloaded de-en ({folder})\n"
        assert service.ask("/translate", GOOD)[1] == {"translatedText": "Yeah!"}
        shutil.rmtree(folder)
        process.send_signal(signal.SIGHUP)
        assert process.stderr.readline().startswith(f"cannot reload de-en ({folder}), the old one stays: ")
        assert service.ask("/translate", GOOD)[1] == {"translatedText": "Yeah!"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0 and process.stderr.read() == ""


def test_a_terminal_that_is_closed_ends_the_service(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    make_system("yes").save(folder)
    command = [sys.executable, "-m", "hyperbaton", "serve", str(folder), "--port", "0"]
    process, terminal = pty.fork()
    if process == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it for its children
        os.execv(sys.executable, command)
    try:
        text = b""
        while b"listening" not in text:
            text += os.read(terminal, 1000)
        os.close(terminal)
        wait_for(lambda: os.waitpid(process, os.WNOHANG)[0] == process)
    except BaseException:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
