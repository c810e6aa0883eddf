"""Instructions of translation by stage of the search, from callgrind.

    CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Profile -DCMAKE_CXX_FLAGS_PROFILE='-O3 -DNDEBUG -g1'" make install
    python -m benchmarks.decode.stages SRC SYSTEM… [--lines 20] [--searches cube:200:6 cube:1000:6]
    python -m benchmarks.decode.stages SRC HIERARCHICAL… --searches chart:200:20

The first command builds the core with line numbers, which the usual build lacks. Each system and search translates the
first line, and then more lines, under callgrind with one thread; their difference is the cost of --lines sentences without
start-up. An instruction belongs to the stage of its source file, also where the compiler put one function into another, or
of its function if the file is the standard library's. What the C library does counts for the stage that called it. Prints
the processor's instructions per sentence, in thousands, and the percentage of each stage. Counts hardly depend on what else
the machine does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks._measure import existing, print_rows
from benchmarks.decode.__main__ import flags_of, parse_search
from hyperbaton.corpus.files import read_lines

# The first expression found in `file:function` gives the stage.
STAGES = {
    "future cost": r"core/decode/space\.cc:.*(Space::Space|fill_future|expected)",
    "options": r"core/(decode/options|phrases/|corpus/|hierarchical/(rule_|matcher|grammar)|base/numbers_view)",
    "language model": r"core/lm/|core/decode/features/lm|chart_lm",
    "recombination": r"core/(decode/(interner|chart|u64_map|score_map|span_stack)|base/hash)",
    "queue": r"core/(base/heap|decode/(cube|grids|search|limits))|core/hierarchical/search",
    "n-best and output": r"core/decode/(nbest|graph|decode)|core/hierarchical/(decode|derivations)",
    "steps and reordering": r"core/",
    "Python": r"",
}


class Place(NamedTuple):
    """Where an instruction is: its shared object, the file of its function, its own file, and its function."""

    object: str
    home: str
    file: str
    function: str

    @property
    def stage(self) -> str:
        file = self.file if "/core/" in self.file else self.home
        return next(name for name, files in STAGES.items() if re.search(files, f"{file}:{self.function}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SRC", type=existing)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", type=existing)
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--searches", nargs="+", default=["cube:200:6", "cube:1000:6"])
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed")
    lines = list(islice(read_lines(options.source), options.lines + 1))
    rows = []
    with TemporaryDirectory() as folder:
        for search, system in product(options.searches, options.systems):
            costs = costs_of(system, search, lines, Path(folder))
            costs.subtract(costs_of(system, search, lines[:1], Path(folder)))
            whole = sum(costs.values())
            rows.append(
                {
                    "system": system,
                    "search": search,
                    "thousands": round(whole / 1000 / max(len(lines) - 1, 1)),
                    **{f"{stage} %": round(100 * costs[stage] / whole, 1) for stage in STAGES},
                }
            )
    print_rows(rows)


def costs_of(system: str, search: str, lines: list[str], folder: Path) -> Counter[str]:
    """Instructions of a translation by stage."""
    source, profile = folder / "source", folder / "profile"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    program = [sys.executable, "-m", "hyperbaton", "translate", system, str(source), "-o", str(folder / "output"), "-q"]
    callgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*callgrind, *program, "-t", "1", *flags_of(parse_search(search))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    costs: Counter[str] = Counter()
    for place, cost in costs_by_place(profile):
        costs[place.stage] += cost
    return costs


def costs_by_place(profile: Path) -> Iterator[tuple[Place, int]]:
    """The instructions in a file of callgrind; those of the C library are at the place that called it."""
    names: dict[tuple[str, str], str] = {}

    def named(kind: str, text: str) -> str:
        """The name in a line, which is given with its number once, and then as the number alone."""
        number, _, name = text.partition(" ")
        return names.setdefault((kind, number), name)

    now = {"ob": "", "fl": "", "fi": "", "fn": ""}
    callee = ""
    with profile.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            key, equals, text = line.rstrip("\n").partition("=")
            if not equals:
                if line[:1].isdigit() or line[:1] in "+-*":
                    cost = int(line.split()[1])
                    place = Place(now["ob"], now["fl"], now["fi"], now["fn"])
                    if not is_library(place.object) and (not callee or is_library(callee)):
                        yield place, cost
                    callee = ""
            elif key in ("cob", "cfi", "cfl", "cfn"):
                name = named({"cob": "ob", "cfn": "fn"}.get(key, "fl"), text)
                now[key] = name
            elif key == "calls":
                callee = now.pop("cob", now["ob"])
                callee = "?" if "main" in now["cfn"] else callee or "?"  # the library calls main, not the stage
            elif key in ("ob", "fl", "fi", "fe", "fn"):
                name = named("fl" if key in ("fi", "fe") else key, text)
                now["fi" if key == "fe" else key] = name
                if key == "fl":
                    now["fi"] = name


def is_library(path: str) -> bool:
    """Whether a shared object is the C or C++ library, whose work counts for its callers."""
    return re.search(r"/(libc|libm|libstdc\+\+|libpthread|ld-linux[^/]*|libgcc_s)[.-]", path) is not None


if __name__ == "__main__":
    main()
