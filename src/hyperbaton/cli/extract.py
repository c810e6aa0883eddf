"""The command `extract`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import Sharding, open_sharding
from hyperbaton.base.options import settings_of
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.progress import Bars, Progress, n_threads
from hyperbaton.base.scratch import Scratch, limited
from hyperbaton.cli import ExecutorAddress, Force, Json, Memory, Quiet, Shards, Threads
from hyperbaton.cli._common import log, print_json, say
from hyperbaton.cli._paths import READS, WRITES_ARTEFACT, WRITES_FOLDER
from hyperbaton.corpus import Bitext, Text
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    ReorderingType,
    RuleLimits,
    RuleTable,
    Scoring,
    extract_rules,
    reordering_probabilities,
)
from hyperbaton.phrases.extracted import KIND
from hyperbaton.phrases.moses import write_moses
from hyperbaton.phrases.rules import DECODED_SPAN
from hyperbaton.phrases.rules import KIND as RULES
from hyperbaton.phrases.rules_shards import extract_rules_in_shards
from hyperbaton.phrases.shards import extract_shards

HELP_GROUP = "Phrases and models"

FOR_SPAN = f"rules: longest span of that text that a rule may cover, as in translate; 0: any [default: {DECODED_SPAN}]."


def extract(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links, i-j, one line per sentence pair."), READS],
    more: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,  # further types after --reordering
    *,
    extraction: Extraction,
    scoring: Scoring,
    hierarchical: Annotated[
        bool, typer.Option("--hierarchical", help="Extract rules with gaps, for chart decoding.")
    ] = False,
    rules: RuleLimits,
    for_: Annotated[
        str | None,
        typer.Option("--for", help="rules: keep only those that match a sentence of this text."),
        READS,
    ] = None,
    for_span: Annotated[int | None, typer.Option(help=FOR_SPAN, min=0)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Artefact to write."), WRITES_ARTEFACT] = None,
    moses: Annotated[Path | None, typer.Option(help="Folder for Moses' text tables."), WRITES_FOLDER] = None,
    reordering: Annotated[
        list[str] | None,
        typer.Option(help="Reordering table to write to --moses, e.g. hier-mslr-bidirectional-fe; may be repeated."),
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
    """Extract phrase pairs with movements and scores, or rules with gaps, from an aligned bitext.

    Examples:

        hyperbaton extract train.zh train.en train.links -o phrases

        hyperbaton extract train.zh train.en train.links --max-length 7 --moses model --reordering wbe-msd-bidirectional-fe

        hyperbaton extract web.zh web.en web.links -o phrases --executor dask://10.0.0.1:8786 --shards 200

        hyperbaton extract train.zh train.en train.links -o rules --hierarchical --for test.zh
    """
    if output is None and moses is None:
        raise OptionError("no output: give -o PHRASES, --moses DIR or both")
    if more and not reordering:
        raise OptionError(f"unexpected argument {more[0]!r}: expected three files, SRC TGT LINKS")
    if reordering and moses is None:
        raise OptionError("--reordering needs --moses DIR")
    _check_kind(hierarchical, extraction, scoring, rules, for_, for_span, reordering)
    span = DECODED_SPAN if for_span is None else for_span
    scratch = limited(memory)
    kinds = [ReorderingType.parse(name) for name in (reordering or []) + (more or [])]
    if output is not None:
        check_artefact(output, RULES if hierarchical else KIND, force=force)
    with ExitStack() as stack:
        bars = stack.enter_context(Bars(quiet))
        log.info("reading %s, %s and %s", source, target, links)
        bitext = Bitext.read(source, target, links, scratch=scratch)
        log.info("extracting from %d sentence pairs", len(bitext))
        progress = bars.stage("extract")
        sharding = stack.enter_context(open_sharding(executor, shards, threads, output or moses))
        if hierarchical:
            table_of_rules = _extract_rules(
                bitext, rules, scoring.min_count, for_, span, sharding, threads, progress, scratch
            )
            log.info("writing %d rules", len(table_of_rules))
            if output is not None:
                options = {"min-count": scoring.min_count, "for": for_, "for-span": span}
                details = {"n_sentences": len(bitext)}
                table_of_rules.save(output, inputs={"bitext": bitext.signature()}, options=options, details=details)
            if moses is not None:
                table_of_rules.write_moses(moses, progress=bars.stage("write"))
            _summarize(_rule_sizes(bitext, table_of_rules), as_json, quiet)
            return
        make = _extract_phrases(bitext, extraction, scoring, sharding, threads, progress, scratch)
        extracted = make() if output is None else ExtractedPhrases.write(output, make, bitext, extraction, scoring)
        table = extracted.table
        if moses is not None:
            tables = (
                (
                    kind,
                    reordering_probabilities(
                        extracted.orientations,
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
        "samples": len(extracted.orientations),
        "source_phrases": len(table.source),
        "target_phrases": len(table.target),
        "pairs": len(table),
    }
    _summarize(summary, as_json, quiet)


def _check_kind(
    hierarchical: bool,
    extraction: Extraction,
    scoring: Scoring,
    rules: RuleLimits,
    text: str | None,
    text_span: int | None,
    reordering: list[str] | None,
) -> None:
    """Refuse options of phrase pairs for rules, options of rules for phrase pairs, and a span of no text."""
    if hierarchical:
        foreign = [*settings_of(extraction), *settings_of(replace(scoring, min_count=1)), *(reordering or [])[:1]]
        if foreign:
            name = "reordering" if reordering and foreign[0] == reordering[0] else foreign[0].partition("=")[0]
            raise OptionError(f"--{name} is an option of phrase pairs; leave it out, or leave out --hierarchical")
        if text_span is not None and text is None:
            raise OptionError("--for-span needs --for TEXT")
        return
    given = {"for": text, "for-span": text_span}
    foreign = [*settings_of(rules), *(name for name, value in given.items() if value is not None)]
    if foreign:
        raise OptionError(f"--{foreign[0].partition('=')[0]} is an option of rules: it needs --hierarchical")


def _extract_phrases(
    bitext: Bitext,
    extraction: Extraction,
    scoring: Scoring,
    sharding: Sharding | None,
    threads: int,
    progress: Progress,
    scratch: Scratch | None,
) -> Callable[[], ExtractedPhrases]:
    """Extraction of phrase pairs in this process or with the workers of an executor."""

    def made() -> ExtractedPhrases:
        if sharding is None:
            extracted = ExtractedPhrases.of(
                bitext, extraction, scoring, threads=n_threads(threads), progress=progress, scratch=scratch
            )
        else:
            extracted = extract_shards(bitext, extraction, scoring, sharding=sharding, progress=progress, scratch=scratch)
        log.info("writing %d phrase pairs", len(extracted.table))
        return extracted

    return made


def _extract_rules(
    bitext: Bitext,
    limits: RuleLimits,
    min_count: int,
    text_path: str | None,
    text_span: int,
    sharding: Sharding | None,
    threads: int,
    progress: Progress,
    scratch: Scratch | None,
) -> RuleTable:
    """Extract rules in this process or with the workers of an executor."""
    text = None if text_path is None else Text.read(text_path)
    if sharding is not None:
        return extract_rules_in_shards(
            bitext,
            limits,
            text=text,
            text_span=text_span,
            min_count=min_count,
            sharding=sharding,
            progress=progress,
            scratch=scratch,
        )
    return extract_rules(
        bitext,
        limits,
        text=text,
        text_span=text_span,
        min_count=min_count,
        threads=n_threads(threads),
        progress=progress,
        scratch=scratch,
    )


def _rule_sizes(bitext: Bitext, rules: RuleTable) -> dict[str, int]:
    table = rules.table
    return {
        "sentences": len(bitext),
        "source_sides": len(table.source),
        "target_sides": len(table.target),
        "rules": len(rules),
    }


def _summarize(summary: dict[str, int], as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(summary)
    else:
        say(", ".join(counted(value, name.removesuffix("s").replace("_", " ")) for name, value in summary.items()), quiet)
