"""Run functions in separate processes, so that their peak memory is measured separately and crashes are isolated."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from hyperbaton.base.errors import HyperbatonError

T = TypeVar("T")

_CONTEXT = multiprocessing.get_context("spawn")
_running: set[BaseProcess] = set()
_lock = threading.Lock()


def in_process(function: Callable[..., T], *arguments: object) -> T:
    """The result of a function of a module, called in a fresh process; both must be picklable."""
    here, there = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_answer, args=(there, function, arguments))
    with _lock:
        process.start()
        _running.add(process)
    there.close()
    try:
        answer: tuple[T, str | None] = here.recv()
    except EOFError:
        process.join()
        ended = f"was ended by signal {-process.exitcode}" if process.exitcode and process.exitcode < 0 else "ended early"
        raise HyperbatonError(f"its process {ended}; is there enough memory?") from None
    finally:
        process.join()
        here.close()
        with _lock:
            _running.discard(process)
    result, reason = answer
    if reason is not None:
        raise HyperbatonError(reason)
    return result


def end_processes() -> None:
    """End all processes that are running a function; their callers get an error."""
    with _lock:
        for process in _running:
            process.terminate()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(pipe: Connection, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        pipe.send((function(*arguments), None))
    except HyperbatonError as error:
        pipe.send((None, str(error)))
    except MemoryError:
        pipe.send((None, "not enough memory"))
    except Exception as error:
        pipe.send((None, f"{type(error).__name__}: {error}"))
