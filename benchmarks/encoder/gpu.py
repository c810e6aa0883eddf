"""Train networks on a GPU from what `pack` wrote; needs NumPy and PyTorch, not hyperbaton.

A job is words: the number of sentence pairs, `all` or `remaining`, and changes: no-tags, no-distances, OPTION=NUMBER of
`Schedule` or `Shape` (epochs=10, hidden=256).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve()
MODULE = HERE.parents[2] / "src/hyperbaton/models/_encoder_torch.py"
# Bytes of a file of arrays, at most.
LARGEST = 15 << 20


def training_code():
    spec = importlib.util.spec_from_file_location("encoder_torch", MODULE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["encoder_torch"] = module
    spec.loader.exec_module(module)
    return module


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
    return code.Sentences(columns["words"].astype(np.int32), labels, offsets, columns["visits"], visit_offsets)


def run(folder: Path, out: Path, job: list[str], device: str, keep: bool) -> None:
    code = training_code()
    n, candidates, *changes = job
    sizes = json.loads((folder / "sizes.json").read_text())
    tags = "no-tags" not in changes and sizes["n_labels"] > 0
    text = load(code, folder / "train.npz", int(n), tags)
    counts = np.bincount(text.words, minlength=sizes["n_words"])
    frequent = counts >= 2
    text = text._replace(words=np.where(frequent[text.words], text.words, code.UNKNOWN).astype(np.int32))
    shape = code.Shape(sizes["n_words"], sizes["n_labels"] if tags else 0, 256, 32, 128, "no-distances" not in changes)
    schedule = code.Schedule(
        remaining=candidates == "remaining",
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
        for options in (shape, schedule):
            if equals and hasattr(options, name):
                value = type(getattr(options, name))(float(value))
                new = dataclasses.replace(options, **{name: value})
                shape, schedule = (new, schedule) if options is shape else (shape, new)
    started = time.time()
    arrays, history = code.train(shape, schedule, text)
    seconds = time.time() - started
    name = "-".join(job).replace("=", "")
    result = {"job": " ".join(job), "options": {"candidates": candidates, "epochs": schedule.epochs}}
    result["options"] |= {name: getattr(shape, name) for name in ("word_size", "hidden", "distances")}
    result["seconds"] = round(seconds, 1)
    network = code.Network(shape).take(arrays).to(device)
    for path in sorted(folder.glob("heldout-*.npz")):
        part = load(code, path, None, tags)
        part = part._replace(words=np.where(frequent[part.words], part.words, code.UNKNOWN).astype(np.int32))
        data = code.Data(part, device)
        for kind in ("all", "remaining"):
            accuracy, logprob = code.figures(network, data, np.arange(len(part.lengths)), kind == "remaining")
            result[f"{path.stem[8:]}.{kind}"] = [round(accuracy, 2), round(logprob, 4)]
    result["history"] = [round(value, 4) for value in history]
    print(json.dumps(result), flush=True)
    with (out / "results.jsonl").open("a") as file:
        file.write(json.dumps(result) + "\n")
    if keep:
        rows = LARGEST // (2 * shape.word_size)
        words = arrays.pop("word")
        pieces = [{f"word.{k:02}": words[begin : begin + rows]} for k, begin in enumerate(range(0, len(words), rows))]
        pieces.append(arrays)
        for k, piece in enumerate(pieces):
            np.savez(out / f"{name}.{k}.npz", **piece)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
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
            command = [sys.executable, str(HERE), str(args.folder), str(args.out), "--jobs", job, "--inside", *keep]
            running.append(subprocess.Popen([*command, "--device", args.device]))
        time.sleep(0.2)


if __name__ == "__main__":
    main()
