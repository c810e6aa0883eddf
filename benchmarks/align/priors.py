"""Alignment error rate on small texts, with and without prior knowledge: words written alike, and a saved model.

    python -m benchmarks.align.priors DATA --pairs 2000 --prior-pairs 15000 --weights 3 10 30 100

The gold sentences and the first pairs of the training text are linked; the prior model is trained on the pairs after them.
Error rates are given for all gold sentences and for each half (even and odd lines), so that a setting chosen on one half
can be scored on the other.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
from benchmarks.align.aligners import TASKS, Task, lines

from hyperbaton.align import Aligner, evaluate_links
from hyperbaton.corpus import Bitext, Links


def text(task: Task, data: Path, begin: int, end: int, *, gold: bool) -> Bitext:
    """Pairs of the training text, after the gold sentences if `gold` is set."""
    sides = []
    for language in task.languages:
        hand_made = (data / task.gold / f"gold.{language}").read_text().splitlines() if gold else []
        train = islice(lines(data / task.train / f"train.{language}.xz"), begin, end)
        sides.append(hand_made + [line.decode().rstrip("\n") for line in train])
    return Bitext.of(sides[0], sides[1])


def rates(task: Task, data: Path, links: Links) -> str:
    sure, possible = task.links(data)
    every = np.arange(len(sure))
    scores = [
        evaluate_links(links.select(part), sure.select(part), possible and possible.select(part)).aer
        for part in (every, every[::2], every[1::2])
    ]
    return "\t".join(f"{aer:.2f}" for aer in scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--prior-pairs", type=int, default=15000)
    parser.add_argument("--weights", type=float, nargs="+", default=[10.0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print("task\tsetting\tAER\teven lines\todd lines")
    for task in (TASKS[name] for name in options.tasks):
        little = text(task, options.data, 0, options.pairs, gold=True)
        more = text(task, options.data, options.pairs, options.pairs + options.prior_pairs, gold=False)

        def report(setting: str, aligner: Aligner, task: Task = task, little: Bitext = little) -> None:
            print(f"{task.name}\t{setting}\t{rates(task, options.data, aligner.align(little))}", flush=True)

        with tempfile.TemporaryDirectory() as folder:
            model = Aligner().fit(more, threads=options.threads)
            model.save(f"{folder}/model")
            report("alike 0", Aligner(alike=0.0).fit(little, threads=options.threads))
            report("defaults", Aligner().fit(little, threads=options.threads))
            report("the model alone", model)
            for weight in options.weights:
                aligner = Aligner(prior=f"{folder}/model", prior_weight=weight)
                report(f"prior, weight {weight:g}", aligner.fit(little, threads=options.threads))


if __name__ == "__main__":
    main()
