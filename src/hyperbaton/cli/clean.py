"""The command `clean`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.cli import Json
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._pairs import Compress, new_files, suffix
from hyperbaton.cli._paths import READS, Writes, names_plugin
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.clean import Cleaning, clean_files
from hyperbaton.corpus.tokenizers import TOKENIZERS, make_tokenizer

HELP_GROUP = "Start here"


def clean(
    source: Annotated[Path, typer.Argument(metavar="SRC"), READS],
    target: Annotated[Path, typer.Argument(metavar="TGT"), READS],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="PREFIX", help="Prefix of the new files."),
        Writes("file", destinations=new_files),
    ],
    options: Cleaning,
    also: Annotated[
        list[Path] | None,
        typer.Option("--also", metavar="FILE", help="Filter this parallel file (links, tags, trees) too; may be repeated."),
        READS,
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Drop broken lines (not UTF-8, NUL, |||) and fix BOM, CR and tabs.")
    ] = False,
    tokenizer_source: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tokenizer for SRC, if it is raw text."), names_plugin(TOKENIZERS)
    ] = None,
    tokenizer_target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tokenizer for TGT, if it is raw text."), names_plugin(TOKENIZERS)
    ] = None,
    language_source: Annotated[str | None, typer.Option(metavar="XX", help="Language of SRC, for its tokenizer.")] = None,
    language_target: Annotated[str | None, typer.Option(metavar="XX", help="Language of TGT, for its tokenizer.")] = None,
    placeholders: Annotated[
        bool,
        typer.Option("--placeholders", help="Write @number@ and @address@ where both sides have the same one."),
    ] = False,
    compress: Compress = None,
    *,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Drop sentence pairs that harm training: empty, too long, or too different in length.

    Writes PREFIX.zh and PREFIX.en for the inputs corpus.zh and corpus.en (.source and .target if both inputs have the
    same ending), all files or none, and reports on stdout what was dropped and why. Broken input is an error unless
    --repair is given. If --ratio drops more than 1% of the pairs that are otherwise fine, which is common if one language
    needs more words than the other, a warning names the ratio that would keep 99% of them.

    Examples:

        hyperbaton clean train.zh.xz train.en.xz -o clean

        hyperbaton clean train.zh train.en -o clean --also train.links --also train.zh.pos --max-length 80

        hyperbaton clean raw.ja raw.en -o clean --tokenizer-source fugashi --tokenizer-target sacremoses --repair
    """
    report = clean_files(
        source,
        target,
        output,
        options,
        also=also or [],
        repair=repair,
        source_tokenizer=None if tokenizer_source is None else make_tokenizer(tokenizer_source, language_source),
        target_tokenizer=None if tokenizer_target is None else make_tokenizer(tokenizer_target, language_target),
        placeholders=placeholders,
        compression=suffix(compress),
        n_processes=common.n_threads,
    )
    for warning in report.warnings:
        say(f"warning: --{warning}", common.quiet)
    if json:
        print_json(report.to_json())
    else:
        print_table(report.rows())
