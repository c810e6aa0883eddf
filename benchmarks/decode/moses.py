"""Moses and Moses2 with an exported system: their fastest files, and translations in new processes."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import time
from pathlib import Path
from subprocess import DEVNULL, PIPE
from threading import Thread
from typing import Any

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System
from hyperbaton.decode.moses import export_moses

PROGRAMS = ("moses", "moses2")
Commands = dict[str, list[str]]  # by the name of the program and its search


def prepare(system: str, folder: Path) -> dict[str, Path]:
    """Export a system for the programs on PATH that can read it: their moses.ini, by name.

    Language models become KenLM's binary files; for Moses2, the phrase table contains the reordering scores and is binary.
    """
    if not any(map(shutil.which, PROGRAMS)):
        return {}
    try:
        ini = export_moses(System.load(system), folder)
    except OptionError:
        return {}  # has a model that Moses does not
    text = ini.read_text(encoding="utf-8")
    for arpa in folder.glob("*.arpa.gz"):
        binary = arpa.name.replace(".arpa.gz", ".binary")
        subprocess.run(["build_binary", "probing", arpa.name, binary], check=True, capture_output=True, cwd=folder)
        text = text.replace(arpa.name, binary)
    ini.write_text(text, encoding="utf-8")
    inis = {"moses": ini}
    if "phrase-table.gz" in text and shutil.which("moses2"):
        inis["moses2"] = folder / "moses2.ini"
        inis["moses2"].write_text(_with_binary_table(text, folder), encoding="utf-8")
    return {program: path for program, path in inis.items() if shutil.which(program)}


def _with_binary_table(text: str, folder: Path) -> str:
    """Make Moses2's binary phrase table; returns moses.ini with it."""
    tables = re.findall(r"^LexicalReordering.* num-features=(\d+) .*path=(\S+)$", text, re.MULTILINE)
    n = 0
    for features, path in tables:
        text = text.replace(f"path={path}", f"path={path} property-index={n}")
        n += int(features)
    rows = [read_lines(folder / path) for path in ("phrase-table.gz", *(path for _, path in tables))]
    with gzip.open(folder / "all-scores.gz", "wt", encoding="utf-8", compresslevel=1) as merged:
        for phrase, *orientations in zip(*rows, strict=True):
            source, target, scores, links, counts = phrase.rstrip("\n").split(" ||| ")[:5]
            parts = [row.rstrip("\n").split(" ||| ") for row in orientations]
            if any(part[:2] != [source, target] for part in parts):
                raise SystemExit(f"no orientations of {source} ||| {target}")
            lexical = f"{{{{LexRO {' '.join(part[2] for part in parts)}}}}}" if parts else ""
            merged.write(f"{source} ||| {target} ||| {scores} ||| {links} ||| {counts} ||| ||| {lexical}\n")
    command = ["CreateProbingPT", "--log-prob", "--num-scores", "4", "--num-lex-scores", str(n)]
    command += ["--input-pt", "all-scores.gz", "--output-dir", "binary-table"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return text.replace("PhraseDictionaryMemory", "ProbingPT").replace("path=phrase-table.gz", "path=binary-table")


def commands(inis: dict[str, Path], how: dict[str, Any]) -> Commands:
    """The commands that search as `how` says; none for searches that the programs do not have."""
    found: Commands = {}
    for program, ini in inis.items():
        flags = ["-threads", "1", "-v", "0", "-beam-threshold", "0", "-output-hypo-score", "true"]
        flags += ["-cube-pruning-pop-limit", str(how["pop_limit"]), "-stack", str(how["stack"])]
        command = [program, "-f", str(ini), *flags]
        if "max_span" in how:
            command += ["-max-chart-span", str(how["max_span"]), "1000", "-search-algorithm"]
            found |= {f"{program}, {name}": [*command, number] for name, number in (("cube", "3"), ("incremental", "5"))}
        elif how["search"] in ("cube", "stack"):
            number = "1" if how["search"] == "cube" else "0"
            found[program] = [*command, "-distortion-limit", str(how["distortion_limit"]), "-search-algorithm", number]
    return found


def translate(command: list[str], lines: list[str]) -> dict[str, Any]:
    """Seconds of the first line with start-up, in the same process processor seconds of the others, and model scores."""
    start = time.perf_counter()
    folder = Path(command[2]).parent
    with subprocess.Popen(command, cwd=folder, text=True, stdin=PIPE, stdout=PIPE, stderr=DEVNULL) as process:
        assert process.stdin and process.stdout
        clock = ~process.pid << 3 | 2  # as clock_getcpuclockid of Linux: the input stays open, so the process lives
        translations, seconds, walls = [], [], []
        for part in (lines[:1], lines[1:]):
            text = "".join(f"{line}\n" for line in part)
            writer = Thread(target=lambda text, stdin: (stdin.write(text), stdin.flush()), args=(text, process.stdin))
            writer.start()
            translations += [process.stdout.readline() for _ in part]
            seconds.append(time.clock_gettime(clock))
            walls.append(time.perf_counter() - start)
            writer.join()
    return {
        "start_s": seconds[0],
        "start_wall_s": walls[0],
        "processor_s": seconds[1] - seconds[0],
        "scores": [float(line.partition(" ")[0]) for line in translations],
    }
