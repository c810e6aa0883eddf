from __future__ import annotations

import json as json_format
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.cli._common import say
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Seed
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.classes import Clustering, cluster_words
from hyperbaton.corpus.text import Text


def classes(
    text: Annotated[str, Argument("TEXT", "Tokenized text, one sentence per line."), READS],
    *,
    clustering: Clustering,
    output: Annotated[str, Flag("File to write; - is stdout.", "-o"), WRITES_FILE] = "-",
    seed: Seed = 1,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Group the words of TEXT into classes by the words around them, as mkcls does.

    Writes one line per word: the word, a tab, its class, sorted by word. Classes are numbered 2, 3, … by frequency.
    The final criterion (higher is better) goes to stderr, as JSON with --json.

    Examples:

        hyperbaton classes train.en > train.en.classes
        hyperbaton classes train.en --classes 100 --runs 5 -t 4 -o train.en.classes.gz
    """
    words = Text.read(text)
    with common.open(output) as resources:
        result = cluster_words(words, clustering, seed, resources.stage("classes"))
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
        say(f"{words_done}, criterion {result.criterion:.1f} after {counted(n_sweeps, 'sweep')}", common.quiet)
