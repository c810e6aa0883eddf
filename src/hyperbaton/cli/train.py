"""The verb `train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.progress import Bars
from hyperbaton.cli import Json, Quiet, Seed, Threads
from hyperbaton.cli._common import n_threads, print_json, say
from hyperbaton.cli._model_flags import ModelFlags, make_model
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.classes import WordClasses


def train(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What to train, see 'hyperbaton models'.")],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links, i-j, one line per sentence pair.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Artefact to write.")],
    source_classes: Annotated[
        str | None, typer.Option(help="Classes of source words, a file of 'hyperbaton classes'.")
    ] = None,
    target_classes: Annotated[str | None, typer.Option(help="Classes of target words.")] = None,
    flags: ModelFlags,  # type: ignore[valid-type]
    seed: Seed = 1,
    threads: Threads = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train a reordering model on an aligned bitext.

    An option of the model that is not given keeps the model's own default.

    Examples:

        hyperbaton train lexicalized train.zh train.en train.links -o lr --orientations five

        hyperbaton train mms train.zh train.en train.links -o mms --orientations five --max-passes 100
    """
    made = make_model(model, flags)
    made.seed, made.threads = seed, n_threads(threads)
    with Bars(quiet) as bars:
        bitext = Bitext.read(source, target, links)
        sides = ((source_classes, bitext.source), (target_classes, bitext.target))
        classes = [None if path is None else WordClasses.read(path, text.vocabulary) for path, text in sides]
        made.fit(bitext, source_classes=classes[0], target_classes=classes[1], progress=bars.stage(f"train {made.name}"))
        made.save(output)
    summary = {
        "model": made.name,
        "samples": int(made.class_counts_.sum()),
        "classes": dict(zip(made.class_names, made.class_counts_.tolist(), strict=True)),
        "train_seconds": made.train_seconds_,
        "train_peak_mib": made.train_peak_mib_,
    }
    if as_json:
        print_json(summary)
    else:
        cost = f"{made.train_seconds_:.1f} s, {made.train_peak_mib_:.0f} MiB at most"
        say(f"{made.name}: {summary['samples']:,} samples, {cost}", quiet)
