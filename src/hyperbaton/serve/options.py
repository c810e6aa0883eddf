"""Options of the service: what it takes, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option


@dataclass(frozen=True)
class Limits:
    """How much is taken at once, and how long it may take."""

    max_characters: int = option(20_000, "maximum number of characters in one request", minimum=1)
    max_body: int = option(1_000_000, "maximum size of a request, in bytes", minimum=1000)
    max_texts: int = option(1000, "maximum number of texts in one request", minimum=1)
    queue: int = option(256, "maximum number of waiting requests; more are refused (429)", minimum=1)
    timeout: float = option(60.0, "time limit of a request, in seconds", minimum=0.1)
    read_timeout: float = option(20.0, "time limit for sending a request, in seconds", minimum=0.1)
    workers: int = option(2, "number of batches translated at the same time", minimum=1, maximum=64)
    batch: int = option(4000, "maximum number of characters in a batch of waiting requests", minimum=1)
