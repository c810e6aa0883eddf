"""Train networks on a GPU from the output of `pack`; needs NumPy and PyTorch, not the core of hyperbaton.

A job is a list of words: the number of sentence pairs; for jumps `all` or `remaining`, for orientations `all` or
`possible`; and changes: no-tags, no-distances, coverage, OPTION=NUMBER of `Schedule` or `Shape` (epochs=10, hidden=256).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks._measure import existing_path
from benchmarks.coreless import without_core

# Bytes of a file of arrays, at most.
LARGEST = 15 << 20


def training_code(name: str):
    """Import a training module of the package without the core."""
    without_core()
    package = "network" if name == "training" else "models.networks"
    return importlib.import_module(f"hyperbaton.{package}.{name}")


class JumpJob:
    """Training of jumps: predict the next word."""

    over = "remaining"

    def __init__(self, sizes: dict, tags: bool, changes: list[str]) -> None:
        self.code = training_code("jumps")
        self.tags, n_labels = tags, sizes["n_labels"] if tags else 0
        self.shape = self.code.JumpShape(sizes["n_words"], n_labels, 256, 32, 128, "no-distances" not in changes)

    def load(self, path: Path, n: int | None = None):
        return load(self.code, path, n, self.tags)

    def task(self, text, kind: str):
        return self.code.NextWords(self.shape, text, kind == self.over)


class OrientationJob:
    """Training of orientations: predict the classes of phrase pairs."""

    over = "possible"

    def __init__(self, sizes: dict, tags: bool, changes: list[str]) -> None:
        self.code = training_code("orientations")
        self.tags, n_labels = tags, sizes["n_labels"] if tags else 0
        self.shape = self.code.OrientationShape(
            sizes["n_words"],
            n_labels,
            256,
            32,
            128,
            sizes["n_target_words"],
            sizes["n_lengths"],
            sizes["n_classes"],
            sizes["n_states"] if "coverage" in changes else 0,
            128,
        )

    def load(self, path: Path, n: int | None = None):
        columns = {name: column.astype(np.int32) for name, column in np.load(path).items()}
        offsets, phrase_offsets = (
            np.concatenate([[0], np.cumsum(columns.pop(name)[:n], dtype=np.int64)]) for name in ("lengths", "n_phrases")
        )
        labels = columns.pop("labels", None)
        words = columns.pop("words")[: offsets[-1]]
        labels = labels[: offsets[-1]] if self.tags and labels is not None else None
        columns = {name: column[: phrase_offsets[-1]] for name, column in columns.items()}
        columns["end"] = columns["begin"] + columns.pop("length")
        return self.code.PhraseSpans(words, labels, offsets, phrase_offsets, **columns)

    def task(self, text, kind: str):
        if kind != self.over:
            text = text._replace(possible=np.full(len(text.possible), (1 << self.shape.n_classes) - 1, np.int32))
        return self.code.Orientations(self.shape, text)


def load(code, path: Path, n: int | None = None, tags: bool = True):
    columns = dict(np.load(path))
    if n is not None:
        n_words, n_visits = int(columns["lengths"][:n].sum()), int(columns["n_visits"][:n].sum())
        cut = {"lengths": n, "n_visits": n, "words": n_words, "labels": n_words, "visits": n_visits}
        columns = {name: column[: cut[name]] for name, column in columns.items()}
    offsets, visit_offsets = (
        np.concatenate([[0], np.cumsum(columns[name].astype(np.int64))]) for name in ("lengths", "n_visits")
    )
    labels = columns["labels"].astype(np.int32) if tags and "labels" in columns else None
    return code.JumpSentences(columns["words"].astype(np.int32), labels, offsets, columns["visits"], visit_offsets)


def run(folder: Path, out: Path, job: list[str], device: str, keep: bool) -> None:
    n, kind, *changes = job
    sizes = json.loads((folder / "sizes.json").read_text())
    tags = "no-tags" not in changes and sizes["n_labels"] > 0
    made = (OrientationJob if "n_classes" in sizes else JumpJob)(sizes, tags, changes)
    code = training_code("training")
    text = made.load(folder / "train.npz", int(n))
    counts = np.bincount(text.words, minlength=sizes["n_words"])
    frequent = counts >= 2
    text = text._replace(words=np.where(frequent[text.words], text.words, code.UNKNOWN).astype(np.int32))
    schedule = code.Schedule(
        dropout=0.3,
        word_dropout=0.05,
        step=1e-3,
        epochs=5,
        patience=2,
        batch_tokens=16384,
        held_out=0.01,
        seed=1,
        device=device,
    )
    for change in changes:
        name, equals, value = change.partition("=")
        if equals and hasattr(made.shape, name):
            made.shape = dataclasses.replace(made.shape, **{name: type(getattr(made.shape, name))(float(value))})
        elif equals:
            schedule = dataclasses.replace(schedule, **{name: type(getattr(schedule, name))(float(value))})
    task = made.task(text, kind)
    started = time.time()
    arrays, history = code.train(task, schedule)
    seconds = time.time() - started
    name = "-".join(job).replace("=", "")
    over = "candidates" if made.over == "remaining" else "classes"
    result = {"job": " ".join(job), "options": {over: kind, "epochs": schedule.epochs}}
    kept = ("word_size", "hidden", "distances", "size")
    result["options"] |= {name: getattr(made.shape, name) for name in kept if hasattr(made.shape, name)}
    if "coverage" in changes:
        result["options"]["coverage"] = True
    result["seconds"] = round(seconds, 1)
    network = task.network(0.0).take(arrays).to(device)
    for path in sorted(folder.glob("heldout-*.npz")):
        part = made.load(path)
        part = part._replace(words=np.where(frequent[part.words], part.words, code.UNKNOWN).astype(np.int32))
        for other in ("all", made.over):
            asked = made.task(part, other)
            accuracy, logprob = code.figures(asked, network, asked.data(device), np.arange(len(part.offsets) - 1))
            result[f"{path.stem[8:]}.{other}"] = [round(accuracy, 2), round(logprob, 4)]
    result["history"] = [round(value, 4) for value in history]
    print(json.dumps(result), flush=True)
    with (out / "results.jsonl").open("a") as file:
        file.write(json.dumps(result) + "\n")
    if keep:
        for k, piece in enumerate(pieces(arrays)):
            np.savez(out / f"{name}.{k}.npz", **piece)


def pieces(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Divide arrays among files of limited size; a large array is split by rows into NAME.00, NAME.01 and so on."""
    files, room = [], 0
    for name, array in arrays.items():
        rows = max(1, LARGEST // max(1, array[:1].nbytes))
        cut = [array[begin : begin + rows] for begin in range(0, len(array), rows)]
        for k, part in enumerate(cut):
            if part.nbytes > room:
                files.append({})
                room = LARGEST
            files[-1][name if len(cut) == 1 else f"{name}.{k:02}"] = part
            room -= part.nbytes
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=existing_path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", nargs="+", required=True, metavar="'N all|remaining [CHANGE …]'")
    parser.add_argument("--keep", nargs="*", default=[], help="jobs whose arrays are written")
    parser.add_argument("--together", type=int, default=4, help="jobs that run at the same time")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--inside", action="store_true", help="run the one job in this process")
    args = parser.parse_args()
    if args.inside:
        run(args.folder, args.out, args.jobs[0].split(), args.device, bool(args.keep))
        return
    waiting, running = list(args.jobs), []
    while waiting or running:
        running = [process for process in running if process.poll() is None]
        if waiting and len(running) < args.together:
            job = waiting.pop(0)
            keep = ["--keep", job] if job in args.keep else []
            command = [
                sys.executable,
                "-m",
                "benchmarks.encoder.gpu",
                str(args.folder),
                str(args.out),
                "--jobs",
                job,
                "--inside",
                *keep,
            ]
            running.append(subprocess.Popen([*command, "--device", args.device]))
        time.sleep(0.2)


if __name__ == "__main__":
    main()
