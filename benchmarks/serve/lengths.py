"""The service by sentence length and number of clients, compared with `RawTranslator.translate` in a loop.

    python -m benchmarks.serve.lengths
    python -m benchmarks.serve.lengths dpr-system encoder-system --words 10 20 40 --clients 1 2 8 --seconds 5

Each request is one sentence for /v1/translate, on a connection that stays open; clients send the next one when they have
the answer. Sentences are cut from the text, by default a generated one, to the given number of words. All combinations are
measured in turn, in each round, so that a busy machine slows all of them; before each, this process translates the same
sentences with one thread, in a loop and together. The last columns are independent of the speed of the machine: the 99th
percentile of the latency divided by the median, and the processor time of the service for a sentence divided by that of the
loop and by that of `TokenTranslator` for all sentences together.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._measure import existing
from benchmarks.serve.program import Program, generated_lines, serving, system_or_generated
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.raw import RawTranslator

LINES = 50  # different sentences of each length


@dataclass
class Figures:
    """The measurements of a length and a number of clients, over all rounds."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    used: float = 0.0  # processor seconds of the service
    loops: list[float] = field(default_factory=list)  # processor seconds of a sentence in a loop
    batches: list[float] = field(default_factory=list)  # and of one of those that are translated together

    def row(self) -> list[str]:
        """Requests per second, milliseconds of the percentiles, and the ratios."""
        done, loop, batch = sorted(self.latencies), statistics.median(self.loops), statistics.median(self.batches)
        half, late = done[len(done) // 2], done[len(done) * 99 // 100]
        per_sentence = self.used / len(done)
        return [
            f"{len(done) / self.seconds:.0f}",
            f"{1000 * half:.1f}",
            f"{1000 * late:.1f}",
            f"{1000 * per_sentence:.1f}",
            f"{1000 * loop:.1f}",
            f"{1000 * batch:.1f}",
            f"{late / half:.1f}",
            f"{per_sentence / loop:.2f}",
            f"{per_sentence / batch:.2f}",
        ]


def sentences(n_words: int, text: str | None) -> list[str]:
    """Sentences of exactly this many words, from a text or from generated sentences."""
    lines = generated_lines(LINES * n_words // 4) if text is None else read_lines(text)
    words = [word for line in lines for word in line.split()]
    return [" ".join(words[start : start + n_words]) for start in range(0, LINES * n_words, n_words)]


def ask(port: int, lines: Sequence[str], first: int, seconds: float, latencies: list[float]) -> None:
    """One client: send sentences until the time is over."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    bodies = [json.dumps({"text": [line]}).encode() for line in lines]
    end = time.perf_counter() + seconds
    for body in islice(cycle(bodies), first, None):
        started = time.perf_counter()
        if started >= end:
            break
        connection.request("POST", "/v1/translate", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise SystemExit(f"status {response.status}: {text.decode()[:200]}")
        latencies.append(time.perf_counter() - started)
    connection.close()


def measure(program: Program, lines: Sequence[str], clients: int, seconds: float, figures: Figures) -> None:
    """Add one measurement of the service."""
    found: list[list[float]] = [[] for _ in range(clients)]
    threads = [
        threading.Thread(target=ask, args=(program.port, lines, n * LINES // clients, seconds, found[n]))
        for n in range(clients)
    ]
    started, used = time.perf_counter(), program.processor_seconds()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures.seconds += time.perf_counter() - started
    figures.used += program.processor_seconds() - used
    figures.latencies += [latency for own in found for latency in own]


def in_a_loop(raw: RawTranslator, lines: Sequence[str]) -> None:
    """Translate sentences one after the other."""
    for line in lines:
        raw.translate([line])


def processor_seconds(translate: Callable[[Sequence[str]], object], lines: Sequence[str]) -> float:
    """Processor seconds of a sentence if all are translated by this function."""
    started = time.process_time()
    translate(lines)
    return (time.process_time() - started) / len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", type=existing)
    parser.add_argument("--text", type=existing, help="text for SYSTEM")
    parser.add_argument("--words", type=int, nargs="+", default=[10, 20, 40])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = {n: sentences(n, options.text) for n in options.words}
    times, ratios = "p50 ms\tp99 ms\tprocessor ms\tin a loop\ttogether", "p99/p50\tto the loop\tto together"
    print(f"system\twords\tclients\trequests/s\t{times}\t{ratios}")
    for named in [[path] for path in options.systems] or [[]]:
        with system_or_generated(named) as served, TemporaryDirectory() as folder:
            tokens = TokenTranslator(System.load(str(served[0])), threads=1)
            raw = RawTranslator(tokens)
            found = {(n, c): Figures() for n in options.words for c in options.clients}
            with serving([*served, "--quiet"], Path(folder) / "log") as program:
                for n, c in [*found] * options.rounds:
                    lines, figures = texts[n], found[n, c]
                    figures.loops.append(processor_seconds(partial(in_a_loop, raw), lines))
                    figures.batches.append(processor_seconds(tokens.translate, lines))
                    measure(program, lines, c, options.seconds, figures)
            for (n, c), figures in found.items():
                print(Path(str(served[0])).name, n, c, *figures.row(), sep="\t", flush=True)


if __name__ == "__main__":
    main()
