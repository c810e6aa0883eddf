"""Runs commands with a terminal as stderr: `python at_terminal.py`, with a list of commands as JSON on stdin.

A command is an object: `words`, `folder` (where it runs), `input` (a file of it, for stdin), and `terminal`: "none",
"stderr" (stdin too unless it has an input, stdout is a file) or "all". Prints a list of objects: `status`, `stdout`, and
`talk`, what came on stderr or on the terminal. The program is imported once, and each command runs in a fork of it.
"""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot  # noqa: F401 (once, not in every fork)

from hyperbaton.__main__ import main
from hyperbaton.cli import build


def child(words: list[str], streams: dict[int, int]) -> None:
    """Run one command in this process, with these file descriptors as its streams."""
    for number, file in streams.items():
        os.dup2(file, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = ["hyperbaton", *words]
    status: Any = 1
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException as error:
        print(f"Traceback: {error!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run(command: dict[str, Any]) -> dict[str, Any]:
    """Run one command and wait for it."""
    os.chdir(command["folder"])
    Path("stdout").unlink(missing_ok=True)
    stdout = os.open("stdout", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    streams = {1: stdout}
    if command.get("input"):
        streams[0] = os.open(command["input"], os.O_RDONLY)
    if command["terminal"] == "none":
        master, other_end = os.pipe()
        process = os.fork()
        streams = {0: os.open(os.devnull, os.O_RDONLY), 2: other_end, **streams}
    else:
        if command["terminal"] == "all":
            del streams[1]
        process, master = pty.fork()
        other_end = -1
    if process == 0:
        child(command["words"], streams)
    if other_end >= 0:
        os.close(other_end)
    talk = b"".join(iter(lambda: read(master), b""))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    for file in {master, *(file for file in streams.values() if file != other_end)}:
        os.close(file)
    return {"status": status, "stdout": Path("stdout").read_bytes().decode(), "talk": talk.decode("utf-8", "replace")}


def read(file: int) -> bytes:
    """Some bytes; none at the end, which a terminal tells as an error."""
    try:
        return os.read(file, 1 << 16)
    except OSError:
        return b""


if __name__ == "__main__":
    build()  # imports every verb
    json.dump([run(command) for command in json.load(sys.stdin)], sys.stdout)
