"""Compare the training and translation speed of this build, and its output, with those of another build.

    pip install --no-deps --target OLD old.whl
    python -m benchmarks.builds WORK --against OLD [--build NEW] [--models none lexicalized pair] [--runs 5]

The text is generated in WORK (`--pairs`) or given by `--text SRC TGT LINKS`. Each build extracts phrases, estimates a
language model, trains every model and translates `--lines` lines of the source with it, on one thread, with its own command
line in separate processes; the two builds take turns. Times are processor seconds, the minimum over `--runs`. The time that
a command needs to start (its help) or to open the system (an empty line) is subtracted and printed separately. `ratio` is
the old time over the new one: the speed of this build relative to the other, above 1 if it is faster. `same` says whether
their translations are identical. A model that either build lacks is skipped. Each build uses its own default options; if
these differ, so do the amount of work and the translations.

`--build` is a folder like OLD; by default it is the package that this Python imports. Both builds use the same other
libraries.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks._measure import print_rows

TABLES = {"hier": "hier-mslr-bidirectional-fe", "msd": "msd-bidirectional-fe"}  # counted by `system`, not trained
MODELS = ["none", "lexicalized", "hier", "maxent", "dpr", "mms", "pair", "sequence", "nine_class", "block_me", "osm"]


@dataclass(frozen=True)
class Build:
    """A build of the package: its installation folder, or None for this Python's own, and the folder for its artefacts."""

    name: str
    site: Path | None
    folder: Path

    def __call__(self, *arguments: object, stdin: str = "") -> tuple[float, str]:
        """Run a command; return its processor seconds and its output."""
        # Without `site`, packages that are installed for editing do not come before the path.
        python = [sys.executable] if self.site is None else [sys.executable, "-S"]
        path = [] if self.site is None else [str(self.site), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        environment = {**os.environ, **({"PYTHONPATH": os.pathsep.join(path)} if path else {})}
        command = [*python, "-m", "hyperbaton", *map(str, arguments)]
        before = _processor()
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, env=environment)
        seconds = _processor() - before
        if done.returncode:
            raise SystemExit(f"{self.name}: {' '.join(map(str, arguments))}: {done.stderr}")
        return seconds, done.stdout

    def models(self) -> set[str]:
        """The names of its models."""
        return {line.split("\t")[0] for line in self("models")[1].splitlines()[1:]}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Least:
    """The minimum time of each build for one command, and the last output."""

    seconds: dict[str, float]
    outputs: dict[str, str]

    @classmethod
    def of(cls, builds: list[Build], runs: int, arguments: Any, stdin: str = "") -> Least:
        """Run a command `runs` times with every build in turn; `arguments` returns the arguments for a build."""
        least = cls({}, {})
        for _ in range(runs):
            for build in builds:
                seconds, least.outputs[build.name] = build(*arguments(build), stdin=stdin)
                least.seconds[build.name] = min(seconds, least.seconds.get(build.name, seconds))
        return least


def _row(model: str, what: str, whole: Least, start: Least, same: str) -> dict[str, Any]:
    work = {name: max(whole.seconds[name] - start.seconds[name], 1e-3) for name in ("old", "new")}
    return {
        "model": model,
        "what": what,
        "old s": work["old"],
        "new s": work["new"],
        "ratio": work["old"] / work["new"],
        "old start s": start.seconds["old"],
        "new start s": start.seconds["new"],
        "same": same,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", metavar="WORK", type=Path)
    parser.add_argument("--against", required=True, type=Path, metavar="OLD")
    parser.add_argument("--build", type=Path, metavar="NEW")
    parser.add_argument("--text", nargs=3, type=Path, metavar=("SRC", "TGT", "LINKS"))
    parser.add_argument("--pairs", type=int, default=4000, help="sentence pairs to generate")
    parser.add_argument("--lines", type=int, default=300, help="lines to translate")
    parser.add_argument("--models", nargs="+", default=MODELS, choices=[*MODELS, *TABLES])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()

    builds = [
        Build("old", options.against.resolve(), options.work / "old"),
        Build("new", options.build and options.build.resolve(), options.work / "new"),
    ]
    new = builds[1]
    text = options.text
    if text is None:
        new("generate", "-o", options.work / "text", "--sentences", options.pairs, "--style", "japanese", "-q")
        text = [options.work / "text" / f"train.{ending}" for ending in ("source", "target", "links")]
    with text[0].open(encoding="utf-8") as lines:
        stdin = "".join(islice(lines, options.lines))
    for build in builds:
        build("extract", *text, "-o", build.folder / "phrases", "-q")
        build("lm", text[1], "-o", build.folder / "lm", "--discount-fallback", "-q")
    known = builds[0].models() & builds[1].models()

    rows = []
    for model in options.models:
        reordering = TABLES.get(model)
        if model not in TABLES and model != "none":
            if model not in known:
                print(f"{model}: not in both builds", file=sys.stderr)
                continue
            train = ["train", model, *text, "-q", "--threads", 1]
            whole = Least.of(
                builds, options.runs, lambda build, train=train: [*train, "-o", build.folder / train[1], "--force"]
            )
            start = Least.of(builds, options.runs, lambda build, model=model: ["train", model, "--help"])
            rows.append(_row(model, "train", whole, start, ""))
        for build in builds:
            parts = ["--phrases", build.folder / "phrases", "--lm", build.folder / "lm"]
            if model != "none":
                parts += ["--reordering", f"R={reordering or build.folder / model}"]
            build("system", "-o", build.folder / f"system-{model}", *parts, "--force", "-q")

        def translate(build: Build, model: str = model) -> list[Any]:
            return ["translate", build.folder / f"system-{model}", "-q", "--threads", 1]

        whole = Least.of(builds, options.runs, translate, stdin)
        start = Least.of(builds, options.runs, translate, "\n")
        same = "yes" if whole.outputs["old"] == whole.outputs["new"] else "no"
        rows.append(_row(model, "translate", whole, start, same))
    print_rows(rows)


if __name__ == "__main__":
    main()
