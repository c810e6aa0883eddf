"""A refused request: its HTTP status and one line that says why."""

from __future__ import annotations


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
