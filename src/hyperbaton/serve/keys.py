"""API keys: a file with one on each line; only their hashes are kept, and compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines, shown

SHORTEST = 8


class Keys:
    """The allowed keys; without any, no key is required."""

    def __init__(self, keys: list[str]) -> None:
        self._salt = os.urandom(16)
        self._hashes = [self._hash(key) for key in keys]

    @classmethod
    def read(cls, path: str) -> Keys:
        """Read a file of keys; empty lines and those that start with # are ignored."""
        keys = []
        for n, line in enumerate(read_lines(path), start=1):
            key = line.strip()
            if not key or key.startswith("#"):
                continue
            if len(key) < SHORTEST or not key.isascii() or any(c.isspace() for c in key):
                raise InputError(f"a key must have at least {SHORTEST} ASCII characters and no blanks", shown(path), n)
            keys.append(key)
        if not keys:
            raise InputError("the file contains no key", shown(path))
        return cls(keys)

    @property
    def are_needed(self) -> bool:
        return bool(self._hashes)

    def owner(self, key: str | None) -> str | None:
        """The owner of a key, as a short name that does not reveal the key; None if it is not allowed."""
        if not self._hashes:
            return ""
        digest = self._hash(key or "")
        # Compare with all of them: the time taken must reveal nothing.
        right = [hmac.compare_digest(digest, known) for known in self._hashes]
        return f"key{right.index(True) + 1}" if any(right) else None

    def _hash(self, key: str) -> bytes:
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=32).digest()
