"""Signals that end the program: its message, and its exit status."""

from __future__ import annotations

import os
import signal
import sys
import threading

_AGAIN_S = 0.01  # delay before a signal is sent again that arrived where no exception can be raised

MESSAGES = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated (SIGTERM)",
    signal.SIGHUP: "terminated: the terminal was closed (SIGHUP)",
}


class Signals:
    """Listens to the signals; those that the program was started to ignore (nohup, background jobs) stay ignored."""

    def __init__(self) -> None:
        usual = (signal.SIG_DFL, signal.default_int_handler)
        self._heard = [number for number in MESSAGES if signal.getsignal(number) in usual]
        self._last = signal.SIGINT

    def leave_at_once(self) -> None:
        """From now on a signal ends the process, before there is anything to clean up."""
        for number in self._heard:
            signal.signal(number, _leave)

    def interrupt(self) -> None:
        """From now on a signal raises KeyboardInterrupt, so that unfinished work is cleaned up."""
        for number in self._heard:
            signal.signal(number, self._raise)
        sys.unraisablehook = self._send_again

    def _send_again(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send a signal again, since Python drops exceptions raised while it frees objects, as at the end of an import."""
        if unraisable.exc_type is not KeyboardInterrupt:
            sys.__unraisablehook__(unraisable)
            return
        again = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), self._last))
        again.daemon = True
        again.start()

    def _raise(self, number: int, frame: object) -> None:
        self._last = signal.Signals(number)
        raise KeyboardInterrupt

    @property
    def message(self) -> str:
        return MESSAGES[self._last]

    @property
    def status(self) -> int:
        """The exit status that shells use for a signal."""
        return 128 + self._last


def _leave(number: int, frame: object) -> None:
    os.write(2, f"hyperbaton: {MESSAGES[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)
