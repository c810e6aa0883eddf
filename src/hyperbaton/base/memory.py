"""Amounts of memory as people write them: 512M, 4G, 2.5GiB.

>>> parse_memory("512M"), parse_memory("2.5GiB"), parse_memory("1GB")
(536870912, 2684354560, 1000000000)
"""

from __future__ import annotations

import math
import re
import resource
import sys

from hyperbaton.base.errors import OptionError

_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([kmgt])(i?b)?\s*", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
LARGEST_MEMORY = 2**60
PROGRAM = 128 << 20  # approximate bytes of Python, the libraries, vocabularies and small buffers


def parse_memory(amount: str | int, option: str = "memory") -> int:
    """The number of bytes of an amount; an integer is a number of bytes.

    K, M, G and T, alone or followed by iB, are powers of 1024; KB, MB, GB and TB are powers of 1000. `option` is the
    name of the amount in errors.
    """
    if isinstance(amount, int) and not isinstance(amount, bool):
        n_bytes = amount
    else:
        match = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
        if match is None:
            raise OptionError(f"{option} must be an amount like 512M, 4G or 2.5GiB, not {amount!r}")
        base = 1000 if (match[3] or "").lower() == "b" else 1024
        n_bytes = int(float(match[1]) * base ** _POWERS[match[2].lower()])
    if not 1024 <= n_bytes <= LARGEST_MEMORY:
        raise OptionError(f"{option} must be at least 1K and at most 1024P, not {amount!r}")
    return n_bytes


def peak_mib(of: int = resource.RUSAGE_SELF) -> float:
    """The peak memory of this process, or of the largest that it started (`RUSAGE_CHILDREN`), as the system reports it."""
    return resource.getrusage(of).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def format_memory(n_bytes: int) -> str:
    """The next larger amount of one decimal, as people write it.

    >>> format_memory(1_300_000_000), format_memory(9_400_000_000), format_memory(512 << 20)
    ('1.3G', '8.8G', '512M')
    >>> parse_memory(format_memory(2**31 + 1)) > 2**31
    True
    """
    unit = next((name for name, power in reversed(_POWERS.items()) if n_bytes >= 1024**power), "k")
    return f"{math.ceil(10 * n_bytes / 1024 ** _POWERS[unit]) / 10:.12g}{unit.upper()}"
