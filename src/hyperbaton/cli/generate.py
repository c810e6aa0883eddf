from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from hyperbaton import data
from hyperbaton.base.counted import counted
from hyperbaton.base.progress import Bars
from hyperbaton.cli._common import print_result
from hyperbaton.cli._parameters import WRITES_FOLDER, Flag, Json, Quiet, Seed
from hyperbaton.data import Language


def generate(
    output: Annotated[Path, Flag("Folder to write to.", "-o"), WRITES_FOLDER],
    language: Language,
    sentences: Annotated[int, Flag("Total number of sentence pairs.", "-n", minimum=1)] = 10_000,
    dev: Annotated[int | None, Flag("Pairs for tuning [default: 500 or a tenth, whichever is less].", minimum=0)] = None,
    test: Annotated[int | None, Flag("Pairs for testing [default: 500 or a tenth, whichever is less].", minimum=0)] = None,
    seed: Seed = 1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Generate a bitext from a small transfer grammar, with links, tags and source trees.

    Writes train, dev and test as text files: train.source, train.target, train.links (as an aligner would report them),
    train.true.links, train.source.tags, train.target.tags, train.source.trees, and so on. The same seed gives the same
    text; more sentences make train longer and change nothing else.

    Examples:

        hyperbaton generate -o corpus
        hyperbaton generate -o corpus --style japanese --sentences 50000 --noise 0.1
    """
    with Bars(quiet) as bars:
        generated = data.generate(sentences, seed=seed, progress=bars.stage("generate"), **dataclasses.asdict(language))
        parts = generated.write(output, dev, test)
    n_source, n_target = generated.bitext.source.n_tokens, generated.bitext.target.n_tokens
    sizes = {name: len(part) for name, part in parts.items()}
    size = f"{output}: {counted(sentences, 'sentence pair')}, {n_source:,} source and {counted(n_target, 'target word')}"
    print_result({"sentences": sizes, "source_words": n_source, "target_words": n_target}, size, as_json, quiet)
