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
search and threads, which shows the cost of a reordering model. If `moses` or `moses2` is on PATH, systems that Moses can
read are also translated with it in the same run, with the same search and one thread.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import alone, existing, print_rows
from benchmarks.decode.work import translate
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System
from hyperbaton.decode.moses import export_moses


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

    cases = list(product(options.searches, options.systems, options.threads, options.lengths))
    least: dict[tuple[str, str, int, int], dict[str, Any]] = {}
    for _, case in product(range(options.rounds), cases):
        search, system, threads, length = case
        how = parse_search(search)
        measured = alone(translate, system, options.source, options.source_tags, options.lines, how, threads, length)
        least[case] = min(measured, least.get(case, measured), key=lambda each: each["processor_s"])
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
                "score": f"{measured['score']:.4f}",
                "relative": speed / first.setdefault((search, threads, length), speed),
                "load s": measured["load_s"],
                "peak MiB": measured["peak_mib"],
            }
        )
    print_rows(rows)
    if relative := _relative_to_cube(least):
        print_rows(relative)
    for program in ("moses", "moses2"):
        if shutil.which(program):
            _moses(program, options.source, options.systems, options.lines, options.searches)


def _relative_to_cube(measured: dict[tuple[str, str, int, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Speed of other searches relative to cube pruning with the same distortion limit and score, between two pop limits."""
    rows = []
    for (search, *case), each in measured.items():
        how = parse_search(search)
        same_as_cube = {"search": "cube", "distortion_limit": how.get("distortion_limit")}
        cubes = sorted(
            (other["score"], other["processor_s"])
            for (name, *its_case), other in measured.items()
            if its_case == case and same_as_cube.items() <= parse_search(name).items()
        )
        if how.get("search", "cube") != "cube" and len(cubes) > 1:
            scores, seconds = zip(*cubes, strict=True)
            within = scores[0] <= each["score"] <= scores[-1]
            ratio = float(np.interp(each["score"], scores, seconds)) / each["processor_s"]
            side = "higher" if each["score"] > scores[-1] else "lower"
            rows.append(
                {
                    "system": Path(case[0]).name,
                    "search": search,
                    "threads": case[1],
                    "times cube at this score": ratio if within else f"{side} score",
                }
            )
    return rows


def _moses(program: str, source: str, systems: list[str], n: int, searches: list[str]) -> None:
    rows = []
    lines = list(islice(read_lines(source), n))
    text = "".join(f"{line}\n" for line in lines).encode()
    words = sum(len(line.split()) for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        for system in systems:
            try:
                ini = export_moses(System.load(system), Path(folder) / Path(system).name)
            except OptionError:
                continue  # has a model that Moses does not
            for search in searches:
                how = parse_search(search)
                if "search" not in how:
                    continue
                command = [program, "-f", "moses.ini", "-threads", "1", "-v", "0", "-beam-threshold", "0"]
                command += ["-search-algorithm", "1" if how["search"] == "cube" else "0", "-stack", str(how["stack"])]
                command += [
                    "-cube-pruning-pop-limit",
                    str(how["pop_limit"]),
                    "-distortion-limit",
                    str(how["distortion_limit"]),
                ]
                seconds = []
                for stdin in (b"\n", text):  # loading alone, then everything
                    start = time.perf_counter()
                    subprocess.run(command, input=stdin, capture_output=True, check=True, cwd=ini.parent)
                    seconds.append(time.perf_counter() - start)
                rows.append(
                    {
                        "program": program,
                        "system": ini.parent.name,
                        "search": search,
                        "words/s": words / (seconds[1] - seconds[0]),
                    }
                )
    if rows:
        print_rows(rows)


if __name__ == "__main__":
    main()
