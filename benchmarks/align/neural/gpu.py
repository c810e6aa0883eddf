"""Train the networks of the aligner `neural` on a machine that has NumPy and PyTorch, but not hyperbaton's core.

    PYTHONPATH=src:. python -m benchmarks.align.neural.gpu packed/ja-en.npz -o trained --hidden 32 64 --device cuda

Without `--device` it computes on the CPU; OMP_NUM_THREADS=1 measures one processor.
It reads a file written by `pack`, trains the teachers once and a student for each size, and writes arrays for `score`.
Options of the aligner are its defaults, or those of `--set`; several students are trained in separate processes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks._measure import existing_path
from benchmarks.coreless import without_core

TEACHER = "teacher"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=existing_path, help="a file that `pack` wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for arrays")
    parser.add_argument("--hidden", type=int, nargs="+", default=[32], help="sizes of students")
    parser.add_argument("--teachers", type=Path, nargs="+", help="arrays of trained teachers; otherwise they are trained")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="OPTION=NUMBER", help="options of the aligner, such as epochs=5"
    )
    options = parser.parse_args()
    without_core()

    from hyperbaton.align.neural.texts import PairTexts
    from hyperbaton.align.neural.training import Training

    stored = dict(np.load(options.packed))
    texts = PairTexts.of({**stored, "posteriors": stored["posteriors"] / np.float32(255)})
    options.output.mkdir(parents=True, exist_ok=True)
    name, start = options.packed.stem, time.perf_counter()

    settings = json.loads(stored["options"].tobytes()) | {"device": options.device}
    settings |= {option: int(number) for option, number in (word.split("=") for word in options.set)}

    def training(hidden: int) -> Training:
        return Training(argparse.Namespace(**settings | {"hidden": hidden}), texts, 0)

    def tell(what: str, history: list[float]) -> None:
        seconds, of_processors = round(time.perf_counter() - start, 1), round(time.process_time(), 1)
        figures = {"held_out": history, "seconds": seconds, "processor_seconds": of_processors}
        print(json.dumps({"set": name, "network": what, **figures}), flush=True)

    if not options.teachers:
        options.teachers = []
        for number in range(settings["teachers"]):
            arrays, history = training(1).teach(number)
            tell(TEACHER, history)
            options.teachers.append(options.output / f"{name}.{number}-{TEACHER}.npz")
            np.savez(options.teachers[-1], **arrays)
    if len(options.hidden) > 1:
        again = [
            sys.executable,
            "-m",
            "benchmarks.align.neural.gpu",
            str(options.packed),
            "-o",
            str(options.output),
            "--device",
            options.device,
        ]
        again += ["--teachers", *map(str, options.teachers)]
        again += ["--set", *options.set] if options.set else []
        students = [subprocess.Popen([*again, "--hidden", str(hidden)]) for hidden in options.hidden]
        sys.exit(max(student.wait() for student in students))
    arrays, history = training(options.hidden[0]).learn([np.load(path) for path in options.teachers])
    tell(f"student {options.hidden[0]}", history)
    np.savez(options.output / f"{name}.{options.hidden[0]}.npz", **arrays)


if __name__ == "__main__":
    main()
