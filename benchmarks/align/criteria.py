"""Test criteria for choosing the settings of the aligner that need no hand-made links.

    python -m benchmarks.align.criteria DATA
    python -m benchmarks.align.criteria DATA --tasks ar-en --pairs 3000

The aligner learns from each gold set and the first pairs of its training text, except for the last HELD_OUT pairs. Prints,
for each setting, the error rate and the figures that need no hand-made links: the agreement of the two directions (the
percentage of their links that both have), log p of the held-out pairs in nats per word, summed over both directions, and
the number of links in either direction per 100 words. The criteria are the agreement and log p; for both, higher is better.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.align.aligners import Task
from benchmarks.align.priors import text
from benchmarks.align.published import task_parser, tasks

from hyperbaton.align import Aligner, evaluate_links
from hyperbaton.corpus import Bitext, Links

HELD_OUT = 300
SAMPLE = 1500
SETTINGS = ("defaults", "stem_prior=0", "alike=0", "stem_prior=0 alike=0", *(f"threshold={p}" for p in (0.3, 0.4, 0.5)))


def aligner_of(setting: str) -> Aligner:
    """The aligner with a setting, `option=value option=value`.

    >>> aligner_of("stem_prior=0 alike=0").alike
    0.0
    """
    pairs = [word.split("=") for word in setting.split() if "=" in word]
    return Aligner(**{name: int(value) if name == "stem_prior" else float(value) for name, value in pairs})  # type: ignore[arg-type]


def measure(task: Task, data: Path, n_pairs: int, setting: str, threads: int) -> str:
    sure, possible = task.links(data)
    bitext = text(task, data, 0, n_pairs, gold=True)
    gold, n_learned = len(sure), len(bitext) - HELD_OUT
    aligner = aligner_of(setting).fit(bitext.select(np.arange(n_learned)), threads=threads)
    rate = evaluate_links(aligner.align(bitext.select(np.arange(gold)), threads=threads), sure, possible).aer
    source, target = aligner.normalize(bitext.select(np.arange(gold, min(gold + SAMPLE, n_learned))))
    forward, backward = aligner.directed_links(Bitext(source.text, target.text), threads, None)
    both = [(set(a), set(b)) for a, b in zip(forward, backward, strict=True)]
    n_common, n_either = sum(len(a & b) for a, b in both), sum(len(a | b) for a, b in both)
    n_words = len(source.text.tokens) + len(target.text.tokens)
    unseen = bitext.select(np.arange(n_learned, len(bitext)))
    logprobs = aligner.score(unseen, Links.of([[]] * len(unseen)), threads=threads).logprobs
    logprob = float(np.nanmean(logprobs, axis=0).sum())
    return f"{rate:.2f}\t{100 * n_common / n_either:.2f}\t{logprob:.4f}\t{200 * n_either / n_words:.1f}"


def main() -> None:
    parser = task_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--settings", nargs="+", default=SETTINGS, help="settings such as 'stem_prior=0 alike=0'")
    options = parser.parse_args()
    print("task\tsetting\tAER\tagreement\tlog p\tlinks")
    for task in tasks(options.data, options.tasks):
        for setting in options.settings:
            measured = measure(task, options.data, options.pairs, setting, options.threads)
            print(f"{task.name}\t{setting}\t{measured}", flush=True)


if __name__ == "__main__":
    main()
