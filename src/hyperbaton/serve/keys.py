"""API keys: a file with one on each line; only their hashes are kept, and compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines, shown

SHORTEST = 8


class Keys:
    """The keys that are allowed; none at all means that nobody is asked for one."""

    def __init__(self, keys: list[str]) -> None:
        self._salt = os.urandom(16)
        self._hashes = [self._hash(key) for key in keys]

    @classmethod
    def read(cls, path: str) -> Keys:
        """Read a file of keys; empty lines and those that start with # do not count."""
        keys = []
        for n, line in enumerate(read_lines(path), start=1):
            key = line.strip()
            if not key or key.startswith("#"):
                continue
            if len(key) < SHORTEST or not key.isascii() or any(c.isspace() for c in key):
                raise InputError(f"a key has at least {SHORTEST} characters of ASCII, and no blanks", shown(path), n)
            keys.append(key)
        if not keys:
            raise InputError("there is no key in it", shown(path))
        return cls(keys)

    @property
    def are_needed(self) -> bool:
        return bool(self._hashes)

    def owner(self, key: str | None) -> str | None:
        """Whose key it is, as a short name that does not tell the key; None if it is not allowed."""
        if not self._hashes:
            return ""
        digest = self._hash(key or "")
        # All of them, whichever is right: how long it takes tells nothing.
        right = [hmac.compare_digest(digest, known) for known in self._hashes]
        return f"key{right.index(True) + 1}" if any(right) else None

    def _hash(self, key: str) -> bytes:
        return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=32).digest()
