"""Translation speed by model score.

    python -m benchmarks.decode SRC SYSTEM… [--source-tags TAGS] [--lines 500] [--searches cube:100:6 stack:100:6]
    python -m benchmarks.decode SRC HIERARCHICAL… --searches chart:200:20 chart:1000:20 [--lengths 10 20 40 80]

A search is `cube:POPS:LIMIT`, `refine:POPS:LIMIT`, `stack:SIZE:LIMIT` or, for systems with rules, `chart:POPS:SPAN` (0 for
no span limit). `cube:POPS:LIMIT:SIZE` also sets the stack size, which is a fifth of the pop limit otherwise, and at least
20. With several pop limits of `cube`, the speed of other searches is compared with it at equal model scores. With
--rounds, every search is measured this many times, in turn, and the minimum processor time of each is printed. With
--lengths, every sentence is cut or repeated to that many words, so that the table shows how the cost grows with the length.

Prints, for each system, search and number of threads: sentences and words per second of processor time, words per second of
wall time, the mean model score, seconds to load, peak memory, and the speed relative to the first system with the same
search and threads, which shows the cost of a reordering model.

If `moses` or `moses2` is on PATH, with `build_binary` and `CreateProbingPT`, systems that Moses can read are also
translated with it, in turn with ours, with the same search and one thread; charts also with incremental search. A second
table then has processor seconds without those of start-up and the first line, how often our score is lower or higher than
Moses', and by how much at most, and the processor and wall seconds of the first line alone in a new process.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import islice, product, starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks._measure import alone, cost_of, existing, print_rows
from benchmarks.decode import moses
from benchmarks.decode.work import of_length, translate
from hyperbaton.corpus.files import read_lines

EQUAL = 0.01  # difference of scores that is due to rounding; Moses prints few digits


class Case(NamedTuple):
    """One measurement of a search."""

    search: str
    system: str
    threads: int
    length: int


Measured = dict[str, Any]


def parse_search(search: str) -> dict[str, Any]:
    """Decoding options of a search.

    >>> parse_search("stack:100:6")
    {'search': 'stack', 'stack': 100, 'pop_limit': 1, 'distortion_limit': 6}
    >>> parse_search("cube:200:6:100")
    {'search': 'cube', 'stack': 100, 'pop_limit': 200, 'distortion_limit': 6}
    """
    kind, size, limit, *stack = search.split(":")
    if kind == "chart":
        return {"stack": max(int(size) // 5, 20), "pop_limit": int(size), "max_span": int(limit)}
    pops = int(size) if kind != "stack" else 1
    return {
        "search": kind,
        "stack": int(stack[0]) if stack else max(pops // 5, 20) if kind != "stack" else int(size),
        "pop_limit": pops,
        "distortion_limit": int(limit),
    }


def flags_of(how: dict[str, Any]) -> list[str]:
    """Decoding options as flags of `hyperbaton translate`."""
    return [part for name, value in how.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SRC", type=existing)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", type=existing)
    parser.add_argument("--source-tags", metavar="TAGS", help="of SRC, for models that were trained with tags")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument(
        "--searches", nargs="+", default=["cube:100:6", "cube:300:6", "cube:1000:6", "cube:1000:-1", "stack:50:6"]
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--lengths", nargs="+", type=int, default=[0], help="words of each sentence; 0: as they are")
    parser.add_argument("--rounds", type=int, default=1, help="number of measurements of each search")
    options = parser.parse_args()

    cases = list(starmap(Case, product(options.searches, options.systems, options.threads, options.lengths)))
    text = list(islice(read_lines(options.source), options.lines))
    least: dict[Case, Measured] = {}
    theirs: dict[tuple[str, Case], Measured] = {}
    with TemporaryDirectory() as folder:
        folders = {system: Path(folder, str(i)) for i, system in enumerate(options.systems)}
        inis = {system: moses.prepare(system, place) for system, place in folders.items()}
        for _, case in product(range(options.rounds), cases):
            how = parse_search(case.search)
            work = (case.system, options.source, options.source_tags, options.lines, how, case.threads, case.length)
            least[case] = _quicker(alone(translate, *work), least.get(case))
            programs = moses.commands(inis[case.system], how) if case.threads == 1 else {}
            lines = [of_length(line, case.length) for line in text]
            for program, command in programs.items():
                theirs[program, case] = _quicker(moses.translate(command, lines), theirs.get((program, case)))
            if programs:
                first_line = str(Path(folder, "first"))
                Path(first_line).write_text(f"{lines[0]}\n", encoding="utf-8")
                command = [sys.executable, "-m", "hyperbaton", "translate", case.system, first_line, "-q", "-t", "1"]
                start = time.perf_counter()
                seconds = {"start_s": cost_of([*command, *flags_of(how)])[0]}
                least[case] = _quicker(seconds | {"start_wall_s": time.perf_counter() - start}, least[case])
    rows = []
    first: dict[tuple[str, int, int], float] = {}
    for (search, system, threads, length), measured in least.items():
        speed = measured["words"] / measured["processor_s"]
        rows.append(
            {
                "system": Path(system).name,
                "search": search,
                "threads": threads,
                "length": measured["words"] / measured["sentences"],
                "sentences/cpu s": measured["sentences"] / measured["processor_s"],
                "words/cpu s": speed,
                "words/s": measured["words"] / measured["seconds"],
                "score": f"{np.mean(measured['scores']):.4f}",
                "relative": speed / first.setdefault((search, threads, length), speed),
                "load s": measured["load_s"],
                "peak MiB": measured["peak_mib"],
            }
        )
    print_rows(rows)
    if relative := _relative_to_cube(least):
        print_rows(relative)
    print_rows(_beside(theirs, least))


def _quicker(new: Measured, old: Measured | None) -> Measured:
    """The newer of two measurements, with the fewer seconds of both."""
    old = old or {}
    return old | new | {name: min(value, old.get(name, value)) for name, value in new.items() if name.endswith("_s")}


def _relative_to_cube(measured: dict[Case, Measured]) -> list[dict[str, Any]]:
    """Speed of other searches relative to cube pruning with the same distortion limit and score, between two pop limits."""
    rows = []
    for case, each in measured.items():
        how = parse_search(case.search)
        same_as_cube = {"search": "cube", "distortion_limit": how.get("distortion_limit")}
        cubes = sorted(
            (float(np.mean(other["scores"])), other["processor_s"])
            for its_case, other in measured.items()
            if its_case[1:] == case[1:] and same_as_cube.items() <= parse_search(its_case.search).items()
        )
        if how.get("search", "cube") != "cube" and len(cubes) > 1:
            scores, seconds = zip(*cubes, strict=True)
            score = float(np.mean(each["scores"]))
            within = scores[0] <= score <= scores[-1]
            ratio = float(np.interp(score, scores, seconds)) / each["processor_s"]
            side = "higher" if score > scores[-1] else "lower"
            rows.append(
                {
                    "system": Path(case.system).name,
                    "search": case.search,
                    "threads": case.threads,
                    "times cube at this score": ratio if within else f"{side} score",
                }
            )
    return rows


def _beside(theirs: dict[tuple[str, Case], Measured], ours: dict[Case, Measured]) -> Iterator[dict[str, Any]]:
    """Each of Moses' programs beside hyperbaton with the same system and search."""
    for (program, case), each in theirs.items():
        our = ours[case]
        difference = np.array(our["scores"]) - each["scores"]
        yield {
            "program": program,
            "system": Path(case.system).name,
            "search": case.search,
            "processor s": each["processor_s"],
            "ours": our["processor_s"],
            "times": each["processor_s"] / our["processor_s"],
            "score": f"{np.mean(each['scores']):.4f}",
            "our score": f"{np.mean(our['scores']):.4f}",
            "ours lower": int((difference < -EQUAL).sum()),
            "by": max(0.0, -difference.min()),
            "ours higher": int((difference > EQUAL).sum()),
            "by at most": max(0.0, difference.max()),
            "one line s": each["start_s"],
            "our line s": our["start_s"],
            "wall": each["start_wall_s"],
            "our wall": our["start_wall_s"],
        }


if __name__ == "__main__":
    main()
