"""The command `classes`."""

from __future__ import annotations

import json as json_format
from contextlib import ExitStack
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.executors import open_sharding
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.cli import ExecutorAddress, Json, Quiet, Seed, Shards, Threads
from hyperbaton.cli._common import say
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.corpus.classes import Clustering, word_classes
from hyperbaton.corpus.text import Text

HELP_GROUP = "Links and words"


def classes(
    text: Annotated[str, typer.Argument(help="Tokenized text, one sentence per line."), READS],
    clustering: Clustering,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout."), WRITES_FILE] = "-",
    executor: ExecutorAddress = None,
    shards: Shards = 0,
    threads: Threads = 0,
    seed: Seed = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Group the words of TEXT into classes by the words around them, as mkcls does.

    Writes one line per word: the word, a tab, its class, sorted by word. Classes are numbered 2, 3, … by frequency.
    The final criterion (higher is better) goes to stderr, as JSON with --json.

    Examples:

        hyperbaton classes train.en > train.en.classes

        hyperbaton classes train.en --classes 100 --runs 5 --threads 4 -o train.en.classes.gz

        hyperbaton classes train.en --runs 40 -o train.en.classes --executor dask://10.0.0.1:8786
    """
    words = Text.read(text)
    with ExitStack() as stack:
        bars = stack.enter_context(Bars(quiet))
        result = word_classes(
            words,
            clustering.classes,
            runs=clustering.runs,
            sweeps=clustering.sweeps,
            seed=seed,
            threads=n_threads(threads),
            progress=bars.stage("classes"),
            sharding=stack.enter_context(open_sharding(executor, shards, threads, output)),
        )
    result.write(output)
    n_sweeps = len(result.history) - 1
    if json:
        summary = {
            "n_words": len(words.vocabulary),
            "n_classes": result.n_classes,
            "criterion": result.criterion,
            "history": result.history.tolist(),
        }
        say(json_format.dumps(summary))
    else:
        words_done = f"{counted(len(words.vocabulary), 'word')} in {counted(result.n_classes, 'class', 'classes')}"
        say(f"{words_done}, criterion {result.criterion:.1f} after {counted(n_sweeps, 'sweep')}", quiet)
