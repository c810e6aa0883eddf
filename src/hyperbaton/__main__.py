"""Where the program starts: it listens to signals before anything else is imported."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper

from hyperbaton.base.signals import Signals


def main() -> None:
    """Run the program `hyperbaton`."""
    _open_closed_streams()
    _print_utf8()
    # Interpreters that this one starts, as multiprocessing does, import nothing from the current folder, which may have
    # a file pickle.py.
    os.environ["PYTHONSAFEPATH"] = "1"
    signals = Signals()
    # While modules are loaded an exception could come up anywhere in them. Nothing has been written yet: leave at once.
    signals.leave_at_once()
    gc.disable()  # modules are not garbage; looking for some in them is a good part of the start
    from hyperbaton.cli import run_program, start

    program = start()
    gc.freeze()
    gc.enable()
    signals.interrupt()
    run_program(program, signals)


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


def _print_utf8() -> None:
    """Make stdout UTF-8, as all files are, whatever the environment says; names of files keep their bytes."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


if __name__ == "__main__":
    main()
