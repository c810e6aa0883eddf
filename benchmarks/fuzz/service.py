"""Send bad requests of every kind to the service, and check that each is answered and that the service keeps running.

    python -m benchmarks.fuzz.service --requests 10000

Broken JSON and XML, wrong types, invalid UTF-8, bodies of megabytes, unknown languages, odd paths and methods, broken HTTP,
slow clients, and clients that disconnect. Every answer must have a documented status and a message. Faults are a status of
500, a known request that is answered differently from before, a process that ends, and memory that grows.

Attacks on the service follow: texts whose processor time must not grow faster than their length, large and nested forms,
and many connections that send half a request, while `/health` must be answered.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import math
import random
import socket
import statistics
import sys
import threading
import time
import urllib.parse
import xmlrpc.client
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.serve.program import Program, generated_lines, serving, system_or_generated

FINE = {200, 201, 204}
REFUSED = {400, 403, 404, 405, 408, 413, 415, 429, 431, 456, 501, 503, 504}
PATHS = [
    *(
        "/translate",
        "/detect",
        "/languages",
        "/frontend/settings",
        "/suggest",
        "/v2/translate",
        "/v2/languages",
        "/v2/usage",
    ),
    *("/v2/glossaries", "/v1/translate", "/v1/align", "/v1/systems", "/RPC2", "/health", "/metrics", "/", "/openapi.json"),
]
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "FOO"]
ODD = [
    *(
        None,
        True,
        False,
        0,
        -1,
        10**30,
        1.5,
        "",
        " ",
        "\n\n",
        "auto",
        "de",
        "xx",
        "en",
        [],
        {},
        [[]],
        [None],
        {"a": []},
        "\ud800",
    ),
    *(
        "\x00",
        "\ue000\uf8ff",
        "|||",
        "<b>",
        "</b><i>",
        '<x translation="',
        "&#xE000;",
        "a" * 3000,
        "<" * 500,
        "💥" * 50,
        "ا ب",
    ),
    *(["a"] * 200, [["a", "b"]], {"demands": [[0, 1, "x"]]}, [{"demands": [[0, 10**9, "x"]]}], [{"walls": [-1]}], "NaN"),
]
FIELDS = [
    *("q", "text", "tokens", "tags", "source", "target", "format", "alternatives", "nbest", "details", "expectations"),
    *(
        "glossary",
        "constraints",
        "options",
        "reference",
        "src_tokens",
        "trg_tokens",
        "source_lang",
        "target_lang",
        "api_key",
    ),
    *("tag_handling", "glossary_id", "split_sentences", "name", "entries", "entries_format", "type"),
]


# Repeated to a text, each has defeated a regular expression, a tokenizer or a loop; the first are searched fast.
TEXTS = [
    "a",
    ".",
    "-",
    "a.",
    "a. ",
    "A.b. ",
    "a@",
    "http://",
    "1.",
    "1,5 ",
    "<",
    "<b>a</b> ",
    "<!--",
    "“ ",
    "「あ。」",
    "a\n",
    "&a",
    "\ue000",
]
GROWTH = 1.2  # the largest exponent by which processor time may grow with the length of a text
LENGTHS = (2500, 5000, 10_000, 20_000)
LATE = 5.0  # seconds in which /health must be answered, on a busy machine


def part(name: str, value: str) -> bytes:
    """A part of a form whose boundary is x."""
    return f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def nested_form(depth: int) -> bytes:
    """A form whose only field is a form, whose only field is a form, and so on."""
    heads = [
        f'--{n}\r\nContent-Disposition: form-data; name="q"\r\nContent-Type: multipart/mixed; boundary={n + 1}\r\n\r\n'
        for n in range(depth)
    ]
    return f"{''.join(heads)}a\r\n".replace("--0\r\n", "--x\r\n").encode() + b"--x--\r\n"


def half_head() -> bytes:
    """The beginning of a request that never ends."""
    return b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Len"


class Fuzz:
    """Sends requests, and counts the responses."""

    def __init__(self, program: Program, lines: list[str], seed: int) -> None:
        self.program, self.lines, self.seed = program, lines, seed
        self.counts: Counter[tuple[str, Any]] = Counter()
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._known = {line: self._translation(line) for line in lines[:5]}
        self.kinds = [
            *[self.valid] * 4,
            *[self.broken_json, self.wrong_types, self.odd_form, self.broken_xml, self.odd_path] * 3,
            *(self.invalid_utf8, self.chunked, self.broken_http, self.gone_early, self.gone_late, self.multipart),
        ]
        self.rare = [self.large, self.slow]

    def run(self, n: int, number: int) -> None:
        """One client."""
        rng = random.Random(self.seed * 1000 + number)
        for i in range(n):
            kind = rng.choice(self.rare) if rng.random() < 0.004 else rng.choice(self.kinds)
            try:
                status = kind(rng)
            except (TimeoutError, http.client.HTTPException, OSError) as error:
                status = f"{type(error).__name__}"
                if not self.program.is_alive:
                    self._fault("the process has ended")
                    return
                if kind not in (self.large, self.broken_http, self.gone_early, self.gone_late):
                    self._fault(f"{kind.__name__}: {type(error).__name__}: {error}")
            with self._lock:
                self.counts[kind.__name__, status] += 1
            if i % 50 == 49:
                self.check_known(rng)

    def check_known(self, rng: random.Random) -> None:
        """Check that a valid request is answered as before."""
        line = rng.choice(list(self._known))
        translation = self._translation(line)
        if translation not in (self._known[line], None):
            self._fault(f"{line!r} was {self._known[line]!r}, and is {translation!r}")

    def _translation(self, line: str) -> str | None:
        status, text = self._send("POST", "/translate", {"q": line, "source": "de", "target": "en"})
        return None if status == 429 else str(json.loads(text).get("translatedText", status))

    def valid(self, rng: random.Random) -> int:
        line = rng.choice(self.lines)
        body: Any = {"q": line, "source": rng.choice(["de", "auto"]), "target": "en", "alternatives": rng.randint(0, 3)}
        if rng.random() < 0.5:
            body = {"text": [line], "target_lang": "EN-US"}
        return self._checked("POST", "/v2/translate" if "text" in body else "/translate", body, FINE | {429, 503})

    def broken_json(self, rng: random.Random) -> int:
        text = bytearray(json.dumps({"q": rng.choice(self.lines), "source": "de", "target": "en"}).encode())
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(text))
            action = rng.randrange(3)
            if action == 0:
                text[at] = rng.randrange(256)
            elif action == 1:
                del text[at : at + rng.randint(1, 9)]
            else:
                text[at:at] = rng.choice([b"{", b"[" * 2000, b'"', b"\\u", b"\\ud800", b"9" * 5000, b"null", b"\xff"])
            text = text or bytearray(b" ")
        path = rng.choice(["/translate", "/v1/translate", "/v2/translate", "/v1/align", "/v2/glossaries"])
        return self._checked("POST", path, bytes(text))

    def wrong_types(self, rng: random.Random) -> int:
        body = {name: rng.choice(ODD) for name in rng.sample(FIELDS, rng.randint(1, 8))}
        if rng.random() < 0.7:
            body |= {"source": "de", "target": "en", "target_lang": "EN"}
        path = rng.choice(
            ["/translate", "/detect", "/v1/translate", "/v2/translate", "/v1/align", "/v2/glossaries", "/suggest"]
        )
        return self._checked("POST", path, body)

    def odd_form(self, rng: random.Random) -> int:
        pairs = [(rng.choice(FIELDS), str(rng.choice(ODD))) for _ in range(rng.randint(1, 8))]
        form = urllib.parse.urlencode(pairs, errors="surrogatepass")
        path = rng.choice(["/translate", "/detect", "/v2/translate", "/languages", "/v2/languages"])
        if rng.random() < 0.5:
            return self._checked(rng.choice(["GET", "POST"]), f"{path}?{form}"[:60_000], b"")
        kind = rng.choice(["application/x-www-form-urlencoded", "text/plain", "application/json", "x/y", ""])
        return self._checked("POST", path, form.encode(), headers={"Content-Type": kind})

    def multipart(self, rng: random.Random) -> int:
        part = f'--x\r\nContent-Disposition: form-data; name="{rng.choice(FIELDS)}"\r\n\r\n{rng.choice(self.lines)}\r\n'
        body = (part * rng.randint(0, 3) + rng.choice(["--x--", "--x", ""])).encode()
        kind = rng.choice(["multipart/form-data; boundary=x", "multipart/form-data", 'multipart/form-data; boundary="'])
        return self._checked("POST", "/translate", body, headers={"Content-Type": kind})

    def invalid_utf8(self, rng: random.Random) -> int:
        body = b'{"q": "' + bytes(rng.randrange(128, 256) for _ in range(20)) + b'", "source": "de", "target": "en"}'
        return self._checked("POST", "/translate", body)

    def broken_xml(self, rng: random.Random) -> int:
        asked = {
            "text": rng.choice(self.lines),
            rng.choice(["align", "nbest", "word-align", "x"]): rng.choice([1, "true", -1, {}]),
        }
        text = bytearray(xmlrpc.client.dumps((asked,), rng.choice(["translate", "system.listMethods", "x"])).encode())
        for _ in range(rng.randint(0, 4)):
            at = rng.randrange(len(text))
            text[at : at + rng.randint(0, 5)] = rng.choice(
                [b"<", b"&a;", b"<!DOCTYPE a>", b"\x00", b"</value>", b"\xff", b"x"]
            )
        return self._checked("POST", rng.choice(["/RPC2", "/RPC2/de-en", "/RPC2/x"]), bytes(text))

    def odd_path(self, rng: random.Random) -> int:
        path = rng.choice(
            [*PATHS, "/x", "//", "/../etc/passwd", "/%00", "/%ff", "/v2/glossaries/x", "/v2/glossaries/x/entries"]
        )
        return self._checked(rng.choice(METHODS), path, rng.choice([None, b"", b"{}", b"q=a"]))

    def chunked(self, rng: random.Random) -> int:
        body = json.dumps({"q": rng.choice(self.lines), "source": "de", "target": "en"}).encode()
        pieces = [body[i : i + 7] for i in range(0, len(body), 7)]
        return self._checked("POST", "/translate", iter(pieces))

    def large(self, rng: random.Random) -> int:
        return self._checked("POST", "/translate", b"x" * rng.choice([1_000_001, 3_000_000, 10_000_000]))

    def broken_http(self, rng: random.Random) -> int | str:
        lines = [
            b"GET\r\n\r\n",
            b"POST /translate HTTP/9.9\r\n\r\n",
            b"POST /translate HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
            b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
            b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            bytes(rng.randrange(256) for _ in range(100)) + b"\r\n\r\n",
        ]
        with self._socket() as raw:
            raw.sendall(rng.choice(lines))
            answer = raw.recv(100)
        if answer and answer[:9] != b"HTTP/1.1 ":
            self._fault(f"broken_http: {answer!r}")
        return int(answer[9:12]) if answer else "closed"

    def gone_early(self, rng: random.Random) -> str:
        with self._socket() as raw:
            raw.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n"[: rng.randint(1, 70)])
        return "gone"

    def gone_late(self, rng: random.Random) -> str:
        body = json.dumps({"q": "\n".join(rng.choices(self.lines, k=20)), "source": "de", "target": "en"}).encode()
        with self._socket() as raw:
            raw.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(rng.random() * 0.05)
        return "gone"

    def slow(self, rng: random.Random) -> int | str:
        with self._socket() as raw:
            raw.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n")
            answer = raw.recv(100)
        if answer[9:12] not in (b"408", b"503"):
            self._fault(f"slow: {answer!r}")
        return int(answer[9:12])

    def attack_with_texts(self) -> None:
        """Fit the growth of processor time with the length of each text."""
        for unit in TEXTS:
            points = []
            for length in LENGTHS:
                before = self.program.processor_seconds()
                body = {"q": (unit * length)[:length], "source": "de", "target": "en"}
                status = self._checked("POST", "/translate", body, {200, 504})
                points.append((math.log(length), math.log(max(self.program.processor_seconds() - before, 0.02))))
                if status == 504:
                    break
            exponent = statistics.linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else 0.0
            print(f"text\t{unit!r}\t{math.exp(points[-1][1]):.2f} s\texponent {exponent:.2f}")
            if exponent > GROWTH:
                self._fault(f"the time of a text of {unit!r} grows with its length to the power of {exponent:.2f}")

    def attack_with_forms(self) -> None:
        """Check that forms with many fields, and nested forms, take almost no time."""
        form, query = (
            {"Content-Type": "multipart/form-data; boundary=x"},
            {"Content-Type": "application/x-www-form-urlencoded"},
        )
        for name, body, headers in (
            ("parts", part("q", "a") * 18_000 + b"--x--", form),
            ("nested", nested_form(5000), form),
            ("boundaries", b"--x\r\n" * 150_000, form),
            ("fields", b"q=a&" * 240_000, query),
            ("lists", b'{"q":' + b"[" * 900_000, {}),
        ):
            before = self.program.processor_seconds()
            status = self._checked("POST", "/translate", body, REFUSED, headers)
            seconds = self.program.processor_seconds() - before
            print(f"form\t{name}\t{status}\t{seconds:.2f} s")
            if seconds > 1:
                self._fault(f"a form of {name} took {seconds:.1f} s of processor time")

    def attack_with_connections(self, n: int = 300) -> None:
        """Many connections that send a request and then half of another."""
        with contextlib.ExitStack() as stack:
            for _ in range(n):
                with contextlib.suppress(OSError):
                    raw = stack.enter_context(self._socket())
                    raw.sendall(b"GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n" + half_head())
            started = time.monotonic()
            for _ in range(20):
                self._checked("GET", "/health", None, {200})
            seconds = (time.monotonic() - started) / 20
            print(f"connections\t{n}\t/health in {seconds:.3f} s")
            if seconds > LATE:
                self._fault(f"/health took {seconds:.1f} s while {n} connections were open")
            while self._send("GET", "/languages", None)[0] != 200:  # when those that are late were closed
                time.sleep(0.1)
                if time.monotonic() - started > 60:
                    self._fault("slow clients keep others out")
                    break

    def _socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.program.port), timeout=60)

    def _checked(
        self, method: str, path: str, body: Any, allowed: set[int] | None = None, headers: dict[str, str] | None = None
    ) -> int:
        status, text = self._send(method, path, body, headers)
        if status not in (allowed or FINE | REFUSED):
            self._fault(f"{method} {path[:60]} {str(body)[:300]}: {status} {text[:200]}")
        elif status in REFUSED and method != "HEAD" and not text.strip():
            self._fault(f"{method} {path[:60]}: {status} without a word")
        return status

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, str]:
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.program.port, timeout=120)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def _fault(self, fault: str) -> None:
        with self._lock:
            self.faults.append(fault)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with system_or_generated([]) as arguments, TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with serving([*arguments, "--quiet", "--read-timeout", 2, "--timeout", 30], log) as program:
            fuzz = Fuzz(program, generated_lines(200), options.seed)
            each = options.requests // options.clients
            warm = options.requests // 10 // options.clients
            memory = []
            for n, seed in ((warm, 0), (each - warm, options.clients)):
                threads = [threading.Thread(target=fuzz.run, args=(n, seed + i)) for i in range(options.clients)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                memory.append(program.mib() if program.is_alive else 0)
            fuzz.check_known(random.Random(0))
            if program.is_alive:
                fuzz.attack_with_texts()
                fuzz.attack_with_forms()
                fuzz.attack_with_connections()
        log_text = log.read_text(encoding="utf-8")
    for (kind, status), n in sorted(fuzz.counts.items(), key=str):
        print(f"{kind}\t{status}\t{n}")
    print(f"{sum(fuzz.counts.values())} requests, {len(fuzz.faults)} faults")
    print(f"memory {memory[0]:.0f} MiB after a tenth, {memory[1]:.0f} MiB at the end")
    if memory[1] > 1.3 * memory[0] + 50:
        fuzz.faults.append("the memory of the process grows")
    if "Traceback" in log_text:
        fuzz.faults.append(f"the log has a traceback: {log_text[log_text.index('Traceback') :][:1500]}")
    for fault in fuzz.faults[:20]:
        print(f"  {fault}")
    if program.process.returncode != 0:
        print(f"exit status {program.process.returncode}")
    if fuzz.faults or program.process.returncode != 0:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
