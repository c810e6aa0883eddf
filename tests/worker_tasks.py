"""Tasks for workers that are lost or refuse; in their own file, since a new process imports the file of its task."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hyperbaton.base.errors import AnnotationError


def die_once(place: Path, part: int) -> int:
    """End the process of the worker at the first attempt of part 2."""
    mark = place / f"{part}"
    if part == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part * part


def die(part: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(part: int) -> None:
    raise AnnotationError("tags", "2 tags for 3 words", 7 + part)
