"""Options of the service: limits on requests, and the refusal of a request."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option


@dataclass(frozen=True)
class ServiceLimits:
    """Limits on the size, number and duration of requests."""

    max_characters: int = option(20_000, "maximum number of characters in one request", minimum=1)
    max_body: int = option(1_000_000, "maximum size of a request, in bytes", minimum=1000)
    max_texts: int = option(1000, "maximum number of texts in one request", minimum=1)
    queue: int = option(256, "maximum number of waiting requests; more are refused (429)", minimum=1)
    timeout: float = option(60.0, "time limit of a request, in seconds", minimum=0.1)
    read_timeout: float = option(20.0, "time limit for sending a request, in seconds", minimum=0.1)
    keep_alive: float = option(30.0, "close a connection after this many seconds without a request", minimum=0.1)
    max_connections: int = option(1000, "maximum number of connections; more are refused (503)", minimum=1)
    max_client_connections: int = option(
        100, "maximum number of connections from one address; more are refused (429); 0: no limit", minimum=0
    )
    workers: int = option(2, "number of batches translated at the same time", minimum=1, maximum=64)
    batch: int = option(4000, "maximum number of characters in a batch of waiting requests", minimum=1)

    @property
    def max_fields(self) -> int:
        """The maximum number of fields in a form: one for each text, and some more."""
        return self.max_texts + 100


class Refusal(Exception):
    """Refuse a request.

    >>> str(Refusal(413, "the text is too long"))
    'the text is too long'
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
