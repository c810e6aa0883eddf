"""The verb `train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.progress import Bars
from hyperbaton.cli import Force, Json, Quiet, Seed, Threads
from hyperbaton.cli._common import n_threads, print_json, say
from hyperbaton.cli._model_flags import ModelFlags, make_model
from hyperbaton.corpus import Bitext, Tags, read_trees
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.models import MODELS
from hyperbaton.models._store import KIND


def train(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="What to train, see 'hyperbaton models'.", autocompletion=MODELS.names)
    ],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links, i-j, one line per sentence pair.")],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Artefact to write.")],
    source_classes: Annotated[
        str | None, typer.Option(help="Classes of source words, a file of 'hyperbaton classes'.")
    ] = None,
    target_classes: Annotated[str | None, typer.Option(help="Classes of target words.")] = None,
    source_tags: Annotated[str | None, typer.Option(help="A tag for each source word, line by line as SRC.")] = None,
    source_trees: Annotated[
        str | None, typer.Option(help="A tree for each source sentence, bracketed or .conllu; lines may be empty.")
    ] = None,
    flags: ModelFlags,  # type: ignore[valid-type]
    force: Force = False,
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

        hyperbaton train sequence train.ja train.en train.links -o seq --source-tags train.ja.pos

        hyperbaton train block_me train.zh train.en train.links -o block --source-tags train.zh.pos --source-trees zh.trees
    """
    made = make_model(model, flags)
    check_artefact(output, KIND, made.name, force=force)
    made.seed, made.threads = seed, n_threads(threads)
    with Bars(quiet) as bars:
        bitext = Bitext.read(source, target, links)
        given = {
            "source_classes": source_classes and WordClasses.read(source_classes, bitext.source.vocabulary),
            "target_classes": target_classes and WordClasses.read(target_classes, bitext.target.vocabulary),
            "source_tags": source_tags and Tags.read(source_tags, bitext.source),
            "source_trees": source_trees and read_trees(source_trees, bitext.source),
        }
        known = {name: value for name, value in given.items() if value}
        for name in known:
            if name not in made.annotations:
                flags_known = ", ".join(f"--{flag.replace('_', '-')}" for flag in made.annotations)
                raise OptionError(
                    f"the model {made.name} makes no use of --{name.replace('_', '-')}; it knows {flags_known}"
                )
        made.fit(bitext, **known, progress=bars.stage(f"train {made.name}"))
        made.save(output)
    costs = {"train_seconds": made.train_seconds_, "train_peak_mib": made.train_peak_mib_}
    summary = {"model": made.name, **made.summary(), **costs}
    if as_json:
        print_json(summary)
    else:
        cost = f"{made.train_seconds_:.1f} s, {made.train_peak_mib_:.0f} MiB at most"
        say(f"{made.name}: {summary['samples']:,} samples, {cost}", quiet)
