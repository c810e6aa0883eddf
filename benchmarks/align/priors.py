"""Alignment error rate on small texts with a saved model as prior, by the size of the text and the weight of the prior.

    python -m benchmarks.align.priors DATA
    python -m benchmarks.align.priors DATA --pairs 2000 --prior-pairs 15000 --weights 3 10 30 100
    python -m benchmarks.align.priors DATA --tasks ar-en --pairs 300 1000 --prior-pairs 6000 --weights \
        --networks teachers=1 teacher_size=96

A text is the gold sentences and the first pairs of the training text, or a part of the gold sentences if it is smaller; the
means over at most four parts are shown. The prior model is trained on the pairs after the training text of the largest
size. Each row gives the error rates without a prior, of the model alone (`--model`), with the default weight, and with
each other weight. With --networks, the prior model is of the aligner `neural`, with its teachers and these options, and
three columns follow: its teachers alone, `neural` with the prior, and `neural` continued from it.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
from benchmarks._measure import existing_path
from benchmarks.align.aligners import TASKS, Task, lines

from hyperbaton.align import Aligner, evaluate_links, load_aligner
from hyperbaton.align.aligners.neural import Neural
from hyperbaton.corpus import Bitext

ARABIC = Task("ar-en", "tatoeba-ar-en", "gold-links/ar-en-madar", ("ar", "en"), "gold.links", None)
TEXTS = {**TASKS, ARABIC.name: ARABIC}
PARTS = 4


def text(task: Task, data: Path, begin: int, end: int, *, gold: bool) -> Bitext:
    """Pairs of the training text, after the gold sentences if `gold` is set."""
    sides = []
    for language in task.languages:
        hand_made = (data / task.gold / f"gold.{language}").read_text().splitlines() if gold else []
        train = islice(lines(data / task.train / f"train.{language}.xz"), begin, end)
        sides.append(hand_made + [line.decode().rstrip("\n") for line in train])
    return Bitext.of(sides[0], sides[1])


def texts(task: Task, data: Path, sizes: list[int], n_prior: int) -> tuple[dict[int, list[tuple[Bitext, range]]], Bitext]:
    """The texts of each size, with the numbers of their gold sentences, and the text of the prior."""
    sides = [(data / task.gold / f"gold.{language}").read_text().splitlines() for language in task.languages]
    n_gold, most = len(sides[0]), max(sizes)
    train = [
        [line.decode().rstrip("\n") for line in islice(lines(data / task.train / f"train.{language}.xz"), most + n_prior)]
        for language in task.languages
    ]
    found = {}
    for size in sizes:
        starts = range(0, min(n_gold - size + 1, PARTS * size), size) if size < n_gold else [0]
        parts = [range(start, min(start + size, n_gold)) for start in starts]
        rest = max(size - n_gold, 0)
        found[size] = [
            (Bitext.of(*([side[i] for i in part] + more[:rest] for side, more in zip(sides, train, strict=True))), part)
            for part in parts
        ]
    return found, Bitext.of(*(side[most:] for side in train))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("--pairs", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--prior-pairs", type=int, default=18_000)
    parser.add_argument("--weights", type=float, nargs="*", default=[10.0, 100.0, 300.0])
    parser.add_argument("--tasks", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    parser.add_argument("--networks", nargs="+", metavar="OPTION=NUMBER", help="train the aligner neural, too")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    weights = [None, *options.weights]
    sizes = {name: int(number) for name, number in (word.split("=") for word in options.networks or [])}
    columns = ["no prior", "--model", "default", *(f"{weight:g}" for weight in options.weights)]
    columns += ["--with-teachers", "neural --prior", "--continue"] if sizes else []
    print("text", "pairs", *columns, sep="\t")
    for task in (TEXTS[name] for name in options.tasks):
        of_size, more = texts(task, options.data, options.pairs, options.prior_pairs)
        sure, possible = task.links(options.data)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model"
            (Neural(**sizes, with_teachers=True) if sizes else Aligner()).fit(more, threads=options.threads).save(path)
            fixed = [load_aligner(path), load_aligner(path, {"with_teachers": True})]
            settings = [Aligner(), fixed[0], *(Aligner(prior=path, prior_weight=weight) for weight in weights)]
            if sizes:
                settings += [fixed[1], Neural(**sizes, prior=path), Neural(**sizes, continue_=path)]
            for size, small in of_size.items():
                rates = []
                for aligner in settings:
                    aers = []
                    for text, part in small:
                        is_fixed = any(aligner is model for model in fixed)
                        fitted = aligner if is_fixed else aligner.fit(text, threads=options.threads)
                        links = fitted.align(text).select(np.arange(len(part)))
                        gold = [each and each.select(np.array(part)) for each in (sure, possible)]
                        aers.append(evaluate_links(links, *gold).aer)
                    rates.append(f"{np.mean(aers):.1f}")
                print(task.name, size, *rates, sep="\t", flush=True)


if __name__ == "__main__":
    main()
