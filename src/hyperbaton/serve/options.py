"""Options of the service: what it takes, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option


@dataclass(frozen=True)
class Limits:
    """How much is taken at once, and how long it may take."""

    max_characters: int = option(20_000, "characters of text in one request", minimum=1)
    max_body: int = option(1_000_000, "bytes of a request's body", minimum=1000)
    max_texts: int = option(1000, "texts in one request", minimum=1)
    queue: int = option(256, "requests that may wait; further ones are refused (429)", minimum=1)
    timeout: float = option(60.0, "seconds until a request is given up", minimum=0.1)
    read_timeout: float = option(20.0, "seconds that a client may take to send a request", minimum=0.1)
    workers: int = option(2, "batches that are translated at the same time", minimum=1, maximum=64)
    batch: int = option(4000, "characters of a batch: requests that wait are translated together", minimum=1)
