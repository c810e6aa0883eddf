"""Counters of the service, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from threading import Lock

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Requests by path and status, their duration, and the amount of translated text."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self._characters: Counter[str] = Counter()
        self._sentences: Counter[str] = Counter()
        self._usage: Counter[str] = Counter()

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count a request; `path` is that of a route, so that there are few."""
        with self._lock:
            self._requests[path, status] += 1
            self._buckets[bisect_left(BUCKETS, seconds)] += 1
            self._seconds += seconds

    def translated(self, pair: str, characters: int, sentences: int, owner: str) -> None:
        """Count translated text, by owner of a key."""
        with self._lock:
            self._characters[pair] += characters
            self._sentences[pair] += sentences
            self._usage[owner] += characters

    def usage(self, owner: str) -> int:
        """The number of characters translated for the owner of a key."""
        return self._usage[owner]

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """All metrics; `gauges` maps names to help and current value."""
        with self._lock:
            return "\n".join(self._lines(gauges)) + "\n"

    def _lines(self, gauges: dict[str, tuple[str, float]]) -> Iterator[str]:
        yield from _head("hyperbaton_requests_total", "counter", "Requests by path and status.")
        for (path, status), n in sorted(self._requests.items()):
            yield f'hyperbaton_requests_total{{path="{path}",status="{status}"}} {n}'
        yield from _head("hyperbaton_request_seconds", "histogram", "Time from the first byte of a request to its answer.")
        total = 0
        for bound, n in zip((*BUCKETS, "+Inf"), self._buckets, strict=True):
            total += n
            yield f'hyperbaton_request_seconds_bucket{{le="{bound}"}} {total}'
        yield f"hyperbaton_request_seconds_sum {self._seconds:.6f}"
        yield f"hyperbaton_request_seconds_count {total}"
        for name, counts, help in (
            ("characters", self._characters, "Translated characters, by language pair."),
            ("sentences", self._sentences, "Translated sentences, by language pair."),
        ):
            yield from _head(f"hyperbaton_{name}_total", "counter", help)
            for pair, n in sorted(counts.items()):
                yield f'hyperbaton_{name}_total{{pair="{pair}"}} {n}'
        for name, (help, value) in gauges.items():
            yield from _head(f"hyperbaton_{name}", "gauge", help)
            yield f"hyperbaton_{name} {value:g}"


def _head(name: str, kind: str, help: str) -> Iterator[str]:
    yield f"# HELP {name} {help}"
    yield f"# TYPE {name} {kind}"
