"""Start-up cost: processor time and memory of commands, compared with those of the libraries that they need.

    python -m benchmarks.start SYSTEM... --source test.src
    python -m benchmarks.start table dpr sequence --source one.src --tags one.tags --times 9

Each SYSTEM translates the first line of the text, in a new process. All commands are run in turn, so that a busy machine
slows all of them; the ratio to the limit is the median of the ratios within a turn, and the time is the best and the
median. The limit is a lower bound: a process that only imports NumPy, click and the compiled core; the three are listed
alone, too. Python's bytecode files must exist, as after an installation (PYTHONDONTWRITEBYTECODE not set).
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._measure import cost_of, existing

LIMIT = ("numpy", "click", "hyperbaton._core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", type=existing)
    parser.add_argument("--source", type=Path, help="text, for SYSTEM")
    parser.add_argument("--tags", type=Path, help="its tags, for systems that need some")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    if options.systems and options.source is None:
        raise SystemExit("--source names the text for SYSTEM")
    program = [sys.executable, "-m", "hyperbaton"]
    imports = {"limit": ", ".join(LIMIT), **{f"import {name}": name for name in LIMIT}}
    commands = {name: [sys.executable, "-c", f"import {names}"] for name, names in imports.items()}
    commands["--help"] = [*program, "--help"]
    with TemporaryDirectory() as folder:
        lines = {name: Path(folder, name) for name in ("source", "tags")}
        for name, line in lines.items():
            path = getattr(options, name)
            line.write_text(
                "" if path is None else path.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8"
            )
        tags = [] if options.tags is None else ["--source-tags", str(lines["tags"])]
        for system in options.systems:
            commands[f"translate {system}"] = [*program, "translate", system, str(lines["source"]), "-q", "-t", "1", *tags]
        turns = [{name: cost_of(command) for name, command in commands.items()} for _ in range(options.times + 1)][1:]
    print("command\tbest s\tmedian s\tof the limit\tMiB")
    for name in commands:
        seconds = [turn[name][0] for turn in turns]
        ratio = statistics.median(turn[name][0] / turn["limit"][0] for turn in turns)
        memory = max(turn[name][1] for turn in turns)
        print(f"{name}\t{min(seconds):.3f}\t{statistics.median(seconds):.3f}\t{ratio:.2f}\t{memory:.0f}")


if __name__ == "__main__":
    main()
