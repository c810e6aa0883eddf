"""Run the program inside the process of the tests, so that a command costs no start of an interpreter.

Tests of the process itself (signals, terminals, closed streams, what is imported) start one.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hyperbaton.base.signals import Signals
from hyperbaton.cli import run_program, start

STREAMS = ("stdin", "stdout", "stderr")


def hyperbaton(*arguments: object, text: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with `text` as its input: its exit status, stdout and stderr."""
    done = hyperbaton_bytes(*arguments, text=text.encode(), cwd=cwd)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def hyperbaton_bytes(*arguments: object, text: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command as `hyperbaton` does, with streams of bytes."""
    words = [*map(str, arguments)]
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in STREAMS]
        files[0].write(text)
        files[0].seek(0)
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        with _streams([file.fileno() for file in files]), _arguments(["hyperbaton", *words]):
            try:
                run_program(start(), Signals())
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
        for file in files[1:]:
            file.seek(0)
        return subprocess.CompletedProcess(words, status, files[1].read(), files[2].read())


@contextlib.contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process that does not outlive the block, even when a test fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def _arguments(words: list[str]) -> Iterator[None]:
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


@contextlib.contextmanager
def _streams(files: list[int]) -> Iterator[None]:
    """Put files in place of the three streams, for Python and for what writes to their numbers."""
    before = [getattr(sys, name) for name in STREAMS]
    for stream in before[1:]:
        stream.flush()
    copies = [os.dup(number) for number in range(3)]
    try:
        for number, (name, file) in enumerate(zip(STREAMS, files, strict=True)):
            os.dup2(file, number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        yield
    finally:
        for number, name in enumerate(STREAMS):
            with contextlib.suppress(OSError, ValueError):
                getattr(sys, name).close()
            setattr(sys, name, before[number])
            os.dup2(copies[number], number)
            os.close(copies[number])
