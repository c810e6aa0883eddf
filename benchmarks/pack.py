"""What packing a system saves: its parts, start-up, speed and BLEU, before and after.

    python -m benchmarks.pack SYSTEM SRC REFERENCE [--source-tags TAGS] [--times 5]

The system is packed exactly and not. For each of the three: MB of every part, processor seconds of packing, BLEU of the
text, how many of its translations are those of SYSTEM, processor seconds of its translation, and processor seconds and MiB
of resident memory for its first line alone (best of several new processes, in turn; the text without the first line).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._measure import cost_of, existing_path, print_rows
from hyperbaton.base.store import MANIFEST
from hyperbaton.corpus.files import read_sentences
from hyperbaton.metrics import METRICS, Outputs

PROGRAM = [sys.executable, "-m", "hyperbaton"]


def part_sizes(system: Path) -> dict[str, float]:
    """MB of the files of each part of a system, wherever they are, and of the rest."""
    details = json.loads((system / MANIFEST).read_text(encoding="utf-8"))["details"]
    places = {"table": "table", **{name: f"lm.{i}" for i, name in enumerate(details["lms"])}}
    places |= {entry["name"]: f"reordering.{i}" for i, entry in enumerate(details["reordering"])}
    names = {"table": "TranslationModel0"}
    sizes: dict[str, float] = {}
    rest = _files(system, "")
    for part, prefix in places.items():
        reference = details["references"].get(names.get(part, part))
        folder, arrays = (system / reference["path"], reference["arrays"]) if reference else (system, prefix)
        files = _files(folder, arrays)
        rest = {path: size for path, size in rest.items() if path not in files}
        sizes[part] = sum(files.values()) / 1e6
    return {**sizes, "rest": sum(rest.values()) / 1e6, "all": sum(sizes.values()) + sum(rest.values()) / 1e6}


def _files(folder: Path, prefix: str) -> dict[Path, int]:
    files = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    starts = (f"{prefix}.", f"{prefix}/") if prefix else ("",)
    return {path: size for path, size in files.items() if path.relative_to(folder).as_posix().startswith(starts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", metavar="SYSTEM", type=existing_path)
    parser.add_argument("source", metavar="SRC", type=existing_path)
    parser.add_argument("reference", metavar="REFERENCE", type=existing_path)
    parser.add_argument("--source-tags", metavar="TAGS", type=existing_path)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        print_rows(_rows(options, Path(folder)))


def _rows(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    systems = {"original": options.system, "exact": folder / "exact", "small": folder / "small"}
    packing = {"original": 0.0}
    for name, flags in (("exact", ["--exact"]), ("small", [])):
        pack = [*PROGRAM, "pack", str(options.system), "-o", str(systems[name]), *flags, "-q", "-t", "1"]
        packing[name] = cost_of(pack)[0]
    for suffix, path in (("", options.source), (".tags", options.source_tags)):
        if path is not None:
            first, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / f"first{suffix}").write_text(first, encoding="utf-8")
            (folder / f"all{suffix}").write_text(first + "".join(others), encoding="utf-8")
    costs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in systems}
    for _ in range(options.times):
        for name, system in systems.items():
            seconds, mib = cost_of(_translate(system, folder, "first", options.source_tags, folder / "line"))
            whole, _ = cost_of(_translate(system, folder, "all", options.source_tags, folder / f"{name}.hyp"))
            costs[name].append((seconds, whole, mib))
    references = list(read_sentences(str(options.reference)))
    originals = list(read_sentences(str(folder / "original.hyp")))
    rows = []
    for name, system in systems.items():
        lines = list(read_sentences(str(folder / f"{name}.hyp")))
        first, whole, mib = (min(column) for column in zip(*costs[name], strict=True))
        rows.append(
            {
                "system": name,
                **{f"{part} MB": size for part, size in part_sizes(system).items()},
                "packing s": packing[name],
                "BLEU": METRICS["bleu"](tokenize="none").value(Outputs.of(lines, references)),
                "same": sum(a == b for a, b in zip(lines, originals, strict=True)),
                "text s": whole - first,
                "one line s": first,
                "one line MiB": mib,
            }
        )
    return rows


def _translate(system: Path, folder: Path, text: str, tags: Path | None, output: Path) -> list[str]:
    given = [] if tags is None else ["--source-tags", str(folder / f"{text}.tags")]
    return [*PROGRAM, "translate", str(system), str(folder / text), "-o", str(output), "-q", "-t", "1", *given]


if __name__ == "__main__":
    main()
