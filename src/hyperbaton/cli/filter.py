from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.align.filtering import Filtering, filter_files
from hyperbaton.cli._common import print_result
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Writes
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.cli.clean import Compress, new_files, suffix


def filter_(
    source: Annotated[Path, Argument("SRC", "Tokenized source text."), READS],
    target: Annotated[Path, Argument("TGT", "Tokenized target text."), READS],
    output: Annotated[
        Path, Flag("Prefix of the new files.", "-o", metavar="PREFIX"), Writes("file", destinations=new_files)
    ],
    options: Filtering,
    scores: Annotated[
        Path | None, Flag("Output of 'align --scores' for these texts, with a model trained on other pairs."), READS
    ] = None,
    matching: Annotated[
        list[Path] | None,
        Flag("Keep only pairs that share n-grams with this source text; may be repeated."),
        READS,
    ] = None,
    also: Annotated[
        list[Path] | None,
        Flag("Filter this parallel file (links, scores, tags) too; may be repeated.", metavar="FILE"),
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

    With --matching, training text is chosen for the text to translate: the sentences with the first 20 instances of each
    of its n-grams of up to 15 words, so put the best text first. Without --scores, no aligner is then trained.

    Examples:

        hyperbaton filter web.zh web.en -o good
        hyperbaton align web.zh web.en --model aligner --scores web.scores > web.links
        hyperbaton filter web.zh web.en --scores web.scores --keep 0.8 -o good
        hyperbaton filter all.zh all.en --matching test.zh --also all.links -o train
    """
    with common.bars() as bars:
        report = filter_files(
            source,
            target,
            output,
            options,
            scores=scores,
            matching=matching or [],
            also=also or [],
            compression=suffix(compress),
            threads=common.n_threads,
            progress=bars.stage("score"),
        )
    print_result(report.to_json(), [report.to_json()], json)
