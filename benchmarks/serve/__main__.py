"""The service under load: latency, throughput, memory, and whether every answer agrees with `translate`.

    python -m benchmarks.serve --clients 32 --seconds 20
    python -m benchmarks.serve SYSTEM --text raw.ja --generated --clients 32 --seconds 600

Each client sends requests of one to four lines of the text in turn to the LibreTranslate, DeepL, Moses and /v1 interfaces.
Any status other than 200 and 429 is an error, and so is any text that differs from the output of `translate --raw`. Without
SYSTEM, a system is trained on generated text; with --generated, it is served together with SYSTEM, and every request is for
one of the two.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import threading
import time
import xmlrpc.client
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._measure import existing
from benchmarks.serve.program import Program, generated_lines, make_system, serving
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.raw import RawTranslator


@dataclass(frozen=True)
class Material:
    """Test requests for one system: its languages, raw lines and lines of tokens, with the correct answers."""

    pair: tuple[str, str]
    raw: dict[str, str]
    tokens: dict[str, str]
    loop_seconds: float  # processor time of a sentence if lines are translated in a loop, one after the other

    @classmethod
    def of(cls, path: str, lines: list[str]) -> Material:
        """The output of `translate --raw` for lines, and of `translate` for their tokens."""
        system = System.load(path)
        if system.text is None:
            raise SystemExit(f"{path} does not say how raw text is processed")
        translator = TokenTranslator(system)
        raw = RawTranslator(translator)
        tokens = [sentence.line for line in lines for sentence in raw.raw.read(line).sentences]
        started = time.process_time()
        for line in lines:
            raw.translate([line])
        loop_seconds = (time.process_time() - started) / len(lines)
        return cls(
            (system.text.source.language, system.text.target.language),
            dict(zip(lines, raw.translate(lines), strict=True)),
            dict(zip(tokens, translator.translate(tokens), strict=True)),
            loop_seconds,
        )


class Clients:
    """Clients that send requests until they are stopped, and their results."""

    def __init__(self, port: int, materials: list[Material]) -> None:
        self.port, self.materials = port, materials
        self.seconds: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.pairs: Counter[str] = Counter()
        self.faults: list[str] = []
        self.n_sentences = 0
        self.stop = threading.Event()
        self._lock = threading.Lock()

    def run(self, number: int) -> None:
        """One client."""
        rng = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while not self.stop.is_set():
            started = time.perf_counter()
            try:
                status, n, fault = self._ask(connection, rng)
            except (OSError, http.client.HTTPException) as error:
                status, n, fault = 0, 0, f"{type(error).__name__}: {error}"
                connection.close()
            seconds = time.perf_counter() - started
            with self._lock:
                self.statuses[status] += 1
                if status == 200:
                    self.seconds.append(seconds)
                    self.n_sentences += n
                if fault:
                    self.faults.append(fault)
            if status == 429:
                time.sleep(0.2)

    def _ask(self, connection: http.client.HTTPConnection, rng: random.Random) -> tuple[int, int, str]:
        material = rng.choice(self.materials)
        source, target = material.pair
        lines = rng.choices(list(material.raw), k=rng.randint(1, 4))
        wanted = [material.raw[line] for line in lines]
        kind = rng.choice(["libretranslate", "deepl", "v1", "moses"])
        headers = {"Content-Type": "application/json"}
        body: Any
        if kind == "libretranslate":
            path, body = "/translate", {"q": "\n".join(lines), "source": source, "target": target}
        elif kind == "deepl":
            path, body = "/v2/translate", {"text": lines, "source_lang": source, "target_lang": target}
        elif kind == "v1":
            path, body = "/v1/translate", {"text": lines, "source": source, "target": target, "details": rng.random() < 0.2}
        else:
            line = rng.choice(list(material.tokens))
            wanted, path = [material.tokens[line]], f"/RPC2/{source}-{target}"
            body = xmlrpc.client.dumps(({"text": line, "align": True},), "translate").encode()
            headers = {"Content-Type": "text/xml"}
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
        response = connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            return response.status, 0, "" if response.status == 429 else f"{kind}: {response.status} {text[:200]}"
        got = _texts(kind, text)
        with self._lock:
            self.pairs[f"{source}-{target}"] += 1
        fault = "" if got == wanted else f"{kind}: {got!r} in place of {wanted!r}"[:400]
        return 200, len(wanted), fault


def _texts(kind: str, text: str) -> list[str]:
    if kind == "moses":
        params: Any = xmlrpc.client.loads(text)[0]
        return [params[0]["text"].strip()]
    answer = json.loads(text)
    if kind == "libretranslate":
        return list(answer["translatedText"].split("\n"))
    return [row["text"] for row in answer["translations"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", type=existing)
    parser.add_argument("--text", type=Path, help="raw text for SYSTEM")
    parser.add_argument("--generated", action="store_true", help="serve a system of generated text too")
    parser.add_argument("--lines", type=int, default=300, help="lines of it that are used")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--queue", type=int, default=256)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        served: list[object] = []
        materials = []
        for path in options.systems:
            if options.text is None:
                raise SystemExit("--text names the raw text for SYSTEM")
            lines = list(islice((line for line in read_lines(options.text) if line.strip()), options.lines))
            served.append(path)
            materials.append(Material.of(path, lines))
        if options.generated or not options.systems:
            system, aligner = make_system(Path(folder))
            served += [system, "--aligner", aligner]
            materials.append(Material.of(str(system), generated_lines(options.lines)))
        log = Path(folder) / "log"
        with serving([*served, "--queue", options.queue, "--quiet"], log) as program:
            faults = measure(program, Clients(program.port, materials), options)
        print(f"log: {log.stat().st_size} bytes, exit status {program.process.returncode}", file=sys.stderr)
    if faults or program.process.returncode != 0:
        raise SystemExit(1)


def measure(program: Program, clients: Clients, options: argparse.Namespace) -> int:
    threads = [threading.Thread(target=clients.run, args=(n,)) for n in range(options.clients)]
    for thread in threads:
        thread.start()
    started, used = time.perf_counter(), program.processor_seconds()
    memory = [program.mib()]
    while (elapsed := time.perf_counter() - started) < options.seconds and program.is_alive:
        time.sleep(min(1.0, options.seconds - elapsed))
        memory.append(program.mib())
    clients.stop.set()
    for thread in threads:
        thread.join(120)
    seconds, used = time.perf_counter() - started, program.processor_seconds() - used
    done = sorted(clients.seconds)
    print(f"{options.clients} clients, {seconds:.0f} s, {sum(clients.statuses.values())} requests")
    print(f"statuses\t{dict(sorted(clients.statuses.items()))}")
    print(f"by languages\t{dict(sorted(clients.pairs.items()))}")
    print(f"requests/s\t{len(done) / seconds:.1f}\tsentences/s\t{clients.n_sentences / seconds:.1f}")
    for share in (50, 90, 95, 99, 100):
        print(f"latency p{share}\t{1000 * done[min(len(done) * share // 100, len(done) - 1)]:.0f} ms" if done else "none")
    if done:
        per_sentence, loop = used / clients.n_sentences, clients.materials[0].loop_seconds
        print(f"latency p99/p50\t{done[len(done) * 99 // 100] / done[len(done) // 2]:.1f}")
        print(
            f"processor time\t{1000 * used / len(done):.2f} ms a request, {1000 * per_sentence:.2f} ms a sentence, "
            f"{per_sentence / loop:.2f} of {1000 * loop:.2f} ms for a line in a loop"
        )
    if memory:
        fifth = max(len(memory) // 5, 1)
        begin, end = memory[fifth : 2 * fifth] or memory[:1], memory[-fifth:]
        print(f"memory\t{memory[0]:.0f} MiB at the start, {max(memory):.0f} MiB at most")
        print(f"memory\t{sum(begin) / len(begin):.0f} MiB after a fifth, {sum(end) / len(end):.0f} MiB in the last fifth")
    print(f"errors\t{len(clients.faults)}")
    for fault in clients.faults[:5]:
        print(f"  {fault}")
    return len(clients.faults)


if __name__ == "__main__":
    main()
