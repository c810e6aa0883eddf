"""Where the program starts: it listens to Ctrl-C before anything else is imported."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the program `hyperbaton`."""
    _open_closed_streams()
    # While modules are loaded an exception could come up anywhere in them. Nothing has been written yet: leave at once.
    # A program that was started to ignore the signal, in the background say, goes on ignoring it.
    listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listening:
        signal.signal(signal.SIGINT, _leave)
    from hyperbaton.cli import run_program, start

    program = start()
    if listening:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_program(program)


def _open_closed_streams() -> None:
    """Where stdin, stdout or stderr was closed (`>&-`), put a stream whose use fails, or that swallows what is said.

    Otherwise the next file that is opened takes its number, and Python prints to stdout what is meant for stderr.
    """
    for number, (name, flags) in enumerate((("stdin", os.O_WRONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))


def _leave(signum: int, frame: object) -> None:
    os.write(2, b"hyperbaton: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
