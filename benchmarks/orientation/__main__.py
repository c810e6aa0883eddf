"""Which model predicts phrase movements best: NI11 Tables 4–6, Fig. 10–13 and 15, AL14 Table 2 and Fig. 1.

    python -m benchmarks.orientation SRC TGT LINKS -o RESULTS [--experiment ni11.toml] [--sizes 20000] [--repeats 1]

Every cell of the experiment (size, repeat, orientation set, model) runs in a process of its own and is kept in RESULTS;
the same command goes on where it was interrupted. Tables go to stdout and RESULTS/tables.txt, pictures to RESULTS.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks._measure import alone, print_rows
from benchmarks.orientation.cells import Experiment, is_done, work
from benchmarks.orientation.pictures import write_pictures
from benchmarks.orientation.tables import all_tables
from hyperbaton.corpus import Bitext


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar=("SRC", "TGT", "LINKS"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--experiment", type=Path, default=Path(__file__).parent / "ni11.toml")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--models", nargs="+")
    parser.add_argument("--orientations", nargs="+")
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    experiment = Experiment.read(arguments.experiment)
    for name in ("sizes", "repeats", "orientations"):
        if getattr(arguments, name) is not None:
            setattr(experiment, name, getattr(arguments, name))
    if arguments.models:
        experiment.models = {name: experiment.models[name] for name in arguments.models}
    arguments.output.mkdir(parents=True, exist_ok=True)
    data = arguments.output / "bitext"
    if not data.exists():
        Bitext.read(*arguments.files).save(data)
    signature = Bitext.load(data).signature()
    results = {}
    for cell in experiment.cells():
        if not is_done(arguments.output, experiment, cell, signature):
            toml = dataclasses.asdict(experiment)
            told = alone(work, str(arguments.output), toml, cell, str(data), signature, arguments.threads)
            print(f"{cell.name}: {told['precision']:.2f}%, {told['seconds']:.1f} s", file=sys.stderr, flush=True)
        results[cell] = json.loads((arguments.output / f"{cell.name}.json").read_text(encoding="utf-8"))
    told_all = io.StringIO()
    with contextlib.redirect_stdout(told_all):
        print(f"command: python -m benchmarks.orientation {shlex.join(sys.argv[1:])}")
        print(f"data: {signature}; hyperbaton {version('hyperbaton')}")
        for title, rows in all_tables(experiment, results):
            print(f"\n{title}")
            if rows:
                print_rows(rows)
    (arguments.output / "tables.txt").write_text(told_all.getvalue(), encoding="utf-8")
    print(told_all.getvalue(), end="")
    write_pictures(arguments.output, experiment, results)


if __name__ == "__main__":
    main()
