"""The command `extract`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import open_sharding
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.base.scratch import limited
from hyperbaton.cli import ExecutorAddress, Force, Json, Memory, Quiet, Shards, Threads
from hyperbaton.cli._common import log, print_json, say
from hyperbaton.cli._paths import READS, WRITES_ARTEFACT, WRITES_FOLDER
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import Extracted, Extraction, ReorderingType, Scoring, reordering_probabilities
from hyperbaton.phrases.extracted import KIND
from hyperbaton.phrases.moses import write_moses
from hyperbaton.phrases.shards import extract_shards


def extract(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links, i-j, one line per sentence pair."), READS],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,  # further types behind --reordering
    *,
    extraction: Extraction,
    scoring: Scoring,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Artefact to write."), WRITES_ARTEFACT] = None,
    moses: Annotated[Path | None, typer.Option(help="Folder for Moses' text tables."), WRITES_FOLDER] = None,
    reordering: Annotated[
        list[str] | None,
        typer.Option(help="Reordering table to write there, e.g. hier-mslr-bidirectional-fe; may be repeated."),
    ] = None,
    reordering_smoothing: Annotated[float, typer.Option(help="Pseudo-count of each orientation.", min=0)] = 0.5,
    memory: Memory = None,
    executor: ExecutorAddress = None,
    shards: Shards = 0,
    force: Force = False,
    threads: Threads = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Extract phrase pairs, their movements and scores from an aligned bitext.

    Examples:

        hyperbaton extract train.zh train.en train.links -o phrases

        hyperbaton extract train.zh train.en train.links --max-length 7 --moses model --reordering wbe-msd-bidirectional-fe

        hyperbaton extract web.zh web.en web.links -o phrases --executor dask://10.0.0.1:8786 --shards 200
    """
    if output is None and moses is None:
        raise OptionError("no output: give -o PHRASES, --moses DIR or both")
    if more and not reordering:
        raise OptionError(f"unexpected argument {more[0]!r}: expected three files, SRC TGT LINKS")
    if reordering and moses is None:
        raise OptionError("--reordering needs --moses DIR")
    scratch = limited(memory)
    kinds = [ReorderingType.parse(name) for name in (reordering or []) + (more or [])]
    if output is not None:
        check_artefact(output, KIND, force=force)
    with ExitStack() as stack:
        bars = stack.enter_context(Bars(quiet))
        log.info("reading %s, %s and %s", source, target, links)
        bitext = Bitext.read(source, target, links, scratch=scratch)
        log.info("extracting from %d sentence pairs", len(bitext))
        progress = bars.stage("extract")
        sharding = stack.enter_context(open_sharding(executor, shards, threads, output or moses))
        if sharding is None:
            extracted = Extracted.of(
                bitext, extraction, scoring, threads=n_threads(threads), progress=progress, scratch=scratch
            )
        else:
            extracted = extract_shards(bitext, extraction, scoring, sharding=sharding, progress=progress, scratch=scratch)
        table = extracted.table
        log.info("writing %d phrase pairs", len(table))
        if output is not None:
            extracted.save(output, bitext, extraction, scoring)
        if moses is not None:
            tables = (
                (
                    kind,
                    reordering_probabilities(
                        extracted.inventory,
                        extracted.samples,
                        kind,
                        smoothing=reordering_smoothing,
                        min_count=scoring.min_count,
                        threads=n_threads(threads),
                        scratch=scratch,
                    ),
                )
                for kind in kinds
            )
            write_moses(moses, table, tables, progress=bars.stage("write"))
    summary = {
        "sentences": len(bitext),
        "samples": len(extracted.samples),
        "source_phrases": len(table.source),
        "target_phrases": len(table.target),
        "pairs": len(table),
    }
    if as_json:
        print_json(summary)
    else:
        say(", ".join(counted(value, name.removesuffix("s").replace("_", " ")) for name, value in summary.items()), quiet)
