from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments, settings_of
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli._common import log, print_result
from hyperbaton.cli._parameters import READS, WRITES_ARTEFACT, WRITES_FOLDER, Argument, Flag, Force, Json
from hyperbaton.cli._resources import ExecutorAndMemoryOptions
from hyperbaton.corpus import Bitext, Text
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    ReorderingType,
    RuleLimits,
    Scoring,
    extract_rules,
    reordering_probabilities,
)
from hyperbaton.phrases.extraction import KIND, extract_phrases
from hyperbaton.phrases.moses import write_moses
from hyperbaton.phrases.rules import DECODED_SPAN, write_rules
from hyperbaton.phrases.rules import KIND as RULES

FOR_SPAN = f"rules: longest span of that text that a rule may cover, as in translate; 0: any [default: {DECODED_SPAN}]."


def extract(
    source: Annotated[str, Argument("SRC", "Tokenized source text."), READS],
    target: Annotated[str, Argument("TGT", "Tokenized target text."), READS],
    links: Annotated[str, Argument("LINKS", "Word links, i-j, one line per sentence pair."), READS],
    *,
    extraction: Extraction,
    scoring: Scoring,
    hierarchical: Annotated[bool, Flag("Extract rules with gaps, for chart decoding.")] = False,
    rules: RuleLimits,
    for_: Annotated[str | None, Flag("rules: keep only those that match a sentence of this text."), READS] = None,
    for_span: Annotated[int | None, Flag(FOR_SPAN, minimum=0)] = None,
    output: Annotated[Path | None, Flag("Artefact to write.", "-o"), WRITES_ARTEFACT] = None,
    moses: Annotated[Path | None, Flag("Folder for Moses' text tables."), WRITES_FOLDER] = None,
    reordering: Annotated[
        list[str] | None, Flag("Reordering tables to write to --moses, e.g. hier-mslr-bidirectional-fe.", metavar="TYPE...")
    ] = None,
    reordering_smoothing: Annotated[float, Flag("Pseudo-count of each orientation.", minimum=0)] = 0.5,
    force: Force = False,
    common: ExecutorAndMemoryOptions,
    as_json: Json = False,
) -> None:
    """Extract phrase pairs with movements and scores, or rules with gaps, from an aligned bitext.

    Examples:

        hyperbaton extract train.zh train.en train.links -o phrases
        hyperbaton extract a.zh a.en a.links --moses model --reordering msd-fe
        hyperbaton extract a.zh a.en a.links -o phrases --executor dask://HOST:8786
        hyperbaton extract a.zh a.en a.links -o rules --hierarchical --for test.zh
    """
    if output is None and moses is None:
        raise OptionError("no output: give -o PHRASES, --moses DIR or both")
    if reordering and moses is None:
        raise OptionError("--reordering needs --moses DIR")
    of_phrases = [*settings_of(extraction), *settings_of(replace(scoring, min_count=1))]
    of_phrases += ["reordering"] if reordering else []
    of_text = {"for": for_, "for-span": for_span}
    of_rules = [*settings_of(rules), *(name for name, value in of_text.items() if value is not None)]
    if hierarchical and of_phrases:
        name = of_phrases[0].partition("=")[0]
        raise OptionError(f"--{name} is an option of phrase pairs; leave it out, or leave out --hierarchical")
    if hierarchical and for_span is not None and for_ is None:
        raise OptionError("--for-span needs --for TEXT")
    if of_rules and not hierarchical:
        raise OptionError(f"--{of_rules[0].partition('=')[0]} is an option of rules: it needs --hierarchical")
    span = DECODED_SPAN if for_span is None else for_span
    kinds = [ReorderingType.parse(name) for name in reordering or []]
    if output is not None:
        check_artefact(output, RULES if hierarchical else KIND, force=force)
    with common.open(output or moses) as resources:
        scratch = resources.scratch
        log.info("reading %s, %s and %s", source, target, links)
        bitext = Bitext.read(source, target, links, scratch=scratch)
        log.info("extracting from %d sentence pairs", len(bitext))
        extracting = resources.stage("extract")
        if hierarchical:
            table_of_rules = extract_rules(
                bitext,
                rules,
                text=None if for_ is None else Text.read(for_),
                text_span=span,
                min_count=scoring.min_count,
                threads=resources.threads,
                progress=extracting.progress,
                scratch=scratch,
            )
            log.info("writing %d rules", len(table_of_rules))
            if output is not None:
                text_name = for_ and os.fsencode(for_).decode(errors="replace")  # a manifest is UTF-8
                options = {"min-count": scoring.min_count, "for": text_name, "for-span": span}
                details = {"n_sentences": len(bitext)}
                table_of_rules.save(output, inputs={"bitext": bitext.signature()}, options=options, details=details)
            if moses is not None:
                write_rules(moses, table_of_rules, progress=resources.stage("write").progress)
            summary = {
                "sentences": len(bitext),
                "source_sides": len(table_of_rules.table.source),
                "target_sides": len(table_of_rules.table.target),
                "rules": len(table_of_rules),
            }
            _summarize(summary, as_json, common.quiet)
            return

        def found() -> ExtractedPhrases:
            extracted = extract_phrases(bitext, extraction, scoring, resources=extracting)
            log.info("writing %d phrase pairs", len(extracted.table))
            return extracted

        extracted = found() if output is None else ExtractedPhrases.write(output, found, bitext, extraction, scoring)
        table = extracted.table
        if moses is not None:
            given: Arguments = {"smoothing": reordering_smoothing, "min_count": scoring.min_count}
            given |= {"threads": resources.threads, "scratch": scratch}
            tables = ((kind, reordering_probabilities(extracted.orientations, kind, **given)) for kind in kinds)
            write_moses(moses, table, tables, progress=resources.stage("write").progress)
    summary = {
        "sentences": len(bitext),
        "samples": len(extracted.orientations),
        "source_phrases": len(table.source),
        "target_phrases": len(table.target),
        "pairs": len(table),
    }
    _summarize(summary, as_json, common.quiet)


def _summarize(summary: dict[str, int], as_json: bool, quiet: bool) -> None:
    sizes = ", ".join(counted(value, name.removesuffix("s").replace("_", " ")) for name, value in summary.items())
    print_result(summary, sizes, as_json, quiet)
