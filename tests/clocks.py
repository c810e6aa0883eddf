"""The only place where tests read a clock: waiting for events, and processor time as a ratio.

How long something takes says more about the machine than about the code, so no test compares a clock with a number
(`unit/test_clocks.py` refuses it). A test waits for an event, with a limit that only a hang reaches, or compares
processor times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300.0  # seconds after which something hangs, even on a busy machine


def wait_for(condition: Callable[[], Any], patience: float = PATIENCE) -> None:
    """Wait until a condition holds; an error if it never does."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience:g} seconds")
        time.sleep(0.02)


def processor_cost(call: Callable[[], Any]) -> float:
    """Processor time of a call in units of a fixed loop, which takes about 10 ms: the same on slow and fast machines."""
    unit = min(_processor_time(_loop) for _ in range(3))
    return _processor_time(call) / unit


def _processor_time(call: Callable[[], Any]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def _loop() -> int:
    return sum(i * i for i in range(200_000))
