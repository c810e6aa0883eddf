"""Where the program starts: it listens to Ctrl-C before anything else is imported."""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the program `hyperbaton`."""
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


def _leave(signum: int, frame: object) -> None:
    os.write(2, b"hyperbaton: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
