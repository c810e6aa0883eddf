"""The command `filter`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.align.filtering import Filtering, filter_files
from hyperbaton.cli import Json
from hyperbaton.cli._common import print_json, print_table
from hyperbaton.cli._pairs import Compress, new_files, suffix
from hyperbaton.cli._paths import READS, Writes
from hyperbaton.cli._resources import ThreadOptions

HELP_GROUP = "Links and words"


def filter_(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[Path, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="PREFIX", help="Prefix of the new files."),
        Writes("file", destinations=new_files),
    ],
    options: Filtering,
    scores: Annotated[
        Path | None,
        typer.Option(help="Output of 'align --scores' for these texts, with a model trained on other pairs."),
        READS,
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            "--also", metavar="FILE", help="Filter this parallel file (links, scores, tags) too; may be repeated."
        ),
        READS,
    ] = None,
    compress: Compress = None,
    *,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Keep the sentence pairs that translate each other, by the scores of an aligner.

    The gain of a pair is how much the log-probability of its words rises given the other side, compared with their
    frequencies in the text: the mean of both directions, in nats per word. The default cut kept 92 to 98% of true pairs
    and 3 to 20% of shuffled ones in tests. Without --scores, an aligner is trained on each half of the pairs and scores
    the other half, since one that was trained on a pair cannot judge it. A pair without a score is dropped. Writes
    PREFIX.zh and PREFIX.en for the inputs corpus.zh and corpus.en, all files or none.

    Examples:

        hyperbaton filter web.zh web.en -o good

        hyperbaton align web.zh web.en --model aligner --scores web.scores -o web.links

        hyperbaton filter web.zh web.en --scores web.scores --also web.links --keep 0.8 -o good --json
    """
    with common.bars() as bars:
        report = filter_files(
            source,
            target,
            output,
            options,
            scores=scores,
            also=also or [],
            compression=suffix(compress),
            threads=common.n_threads,
            progress=bars.stage("score"),
        )
    if json:
        print_json(report.to_json())
    else:
        print_table([report.to_json()])
