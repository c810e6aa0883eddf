"""Install with pip and show what it is doing: `python tools/install.py LOG ARGUMENT...`.

pip says nothing while it compiles, or everything. Here each package is named when pip turns to it, and the steps of the
compiler are counted; all that pip says is added to the file LOG, whose end is shown if pip fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

PACKAGE = re.compile(r"\s*(?:Collecting |Processing \S*/(?=\S+\.whl))([\w.]+(?:-[A-Za-z]\w*)*)")  # by name, or a file
STEP = re.compile(r"\s*\[(\d+)/(\d+)\] (?:Building|Linking|Generating) ")
UNPACKING = re.compile(r"\s*Installing collected packages: (.*)")


class Display:
    """Lines on stdout; on a terminal the count of compiled files is one line that changes."""

    def __init__(self) -> None:
        self.on_terminal = sys.stdout.isatty()
        self.open_line = False
        self.last = 0.0

    def line(self, text: str) -> None:
        print("\n" * self.open_line + f"  {text}", flush=True)
        self.open_line = False

    def step(self, done: int, total: int) -> None:
        if self.on_terminal:
            print(f"\r  compiling: {done} of {total}", end="", flush=True)
            self.open_line = True
        elif done == total or time.monotonic() - self.last > 15:
            self.last = time.monotonic()
            self.line(f"compiling: {done} of {total}")


def main(log: Path, arguments: list[str]) -> int:
    """Run `pip install` and return its exit status."""
    # Most modules of the packages are never imported; Python compiles those that are.
    options = ["--verbose", "--no-compile", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "install", *options]
    display = Display()
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process,
    ):
        for raw in process.stdout or []:
            line = raw.decode("utf-8", "replace")
            file.write(line)
            if package := PACKAGE.match(line):
                display.line(package[1])
            elif unpacking := UNPACKING.match(line):
                display.line(f"unpacking {unpacking[1].count(',') + 1} packages")
            elif step := STEP.match(line):
                display.step(int(step[1]), int(step[2]))
    if display.open_line:
        print(flush=True)
    if process.returncode:
        print("\n".join(log.read_text(encoding="utf-8").splitlines()[-40:]))
        print(f"pip failed; all that it said is in {log}")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
