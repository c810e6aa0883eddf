"""Memory and disk space of a running process: private memory, unnamed temporary files, and the files of a folder."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

PAUSE = 0.03  # seconds between two looks


class Watch:
    """Monitors the private memory of a process of this user, and its disk space in temporary files and a folder (Linux)."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid, self._folder, self._before = pid, folder, _below(folder)
        self.peak, self.private = 0, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    @property
    def kept(self) -> int:
        """The growth of the folder, in bytes."""
        return _below(self._folder) - self._before

    def _watch(self) -> None:
        while not self._done.wait(PAUSE):
            self.peak = max(self.peak, _unnamed(self._pid) + self.kept)
            self.private = max(self.private, _private(self._pid))


def _below(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # removed meanwhile
                total += Path(root, name).stat().st_size
    return total


def _private(pid: int) -> int:
    """The resident memory of a process in bytes, without pages of files."""
    with contextlib.suppress(OSError):  # the process has ended
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    return 0


def _unnamed(pid: int) -> int:
    """The disk space of the unnamed files that a process has mapped or open; of mapped ones, only root sees holes."""
    sizes: dict[int, int] = {}
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
        for line in maps.splitlines():
            if line.endswith("(deleted)"):
                span, _, offset, _, inode, *_ = line.split()
                begin, end = (int(text, 16) for text in span.split("-"))
                sizes[int(inode)] = max(sizes.get(int(inode), 0), end - begin + int(offset, 16))
                with contextlib.suppress(PermissionError, FileNotFoundError):
                    sizes[int(inode)] = Path(f"/proc/{pid}/map_files/{span}").stat().st_blocks * 512
        for file in Path(f"/proc/{pid}/fd").iterdir():
            state = file.stat()
            if state.st_nlink == 0:
                sizes[state.st_ino] = state.st_blocks * 512
    except OSError:  # the process has ended, or closed a file
        return 0
    return sum(sizes.values())


def array_bytes(artefact: Path, n: int) -> list[dict[str, Any]]:
    """The size of each array of an artefact in bytes per sentence pair, the largest first."""
    arrays = json.loads((artefact / "manifest.json").read_text())["arrays"]
    sizes = {name: np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"])) for name, entry in arrays.items()}
    rows = [{"array": name, "bytes_each": size / n} for name, size in sorted(sizes.items(), key=lambda item: -item[1])]
    return [*rows, {"array": "all", "bytes_each": sum(sizes.values()) / n}]
