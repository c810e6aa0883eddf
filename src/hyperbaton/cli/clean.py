from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind
from hyperbaton.cli._common import print_result, say
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Writes
from hyperbaton.cli._raw import Languages, parse_languages
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.clean import Cleaning, clean_files, output_names

Compress = Annotated[str | None, Flag("Compress the new files.", choices=("gz", "xz", "zst"))]


def suffix(compress: str | None) -> str:
    """The suffixes of the new files."""
    return "" if compress is None else f".{compress}"


def new_files(values: Arguments) -> dict[AnyPath, Kind]:
    """The files that -o PREFIX writes."""
    source, target, also = values["source"], values["target"], values["also"] or []
    names = output_names(source, target, also, values["output"], suffix(values["compress"]))
    return dict.fromkeys(names, "file")


def clean(
    source: Annotated[Path, Argument("SRC", "Source text, tokenized unless --languages are given."), READS],
    target: Annotated[Path, Argument("TGT", "Target text, its translation line by line."), READS],
    output: Annotated[
        Path, Flag("Prefix of the new files.", "-o", metavar="PREFIX"), Writes("file", destinations=new_files)
    ],
    options: Cleaning,
    also: Annotated[
        list[Path] | None,
        Flag("Filter this parallel file (links, tags, trees) too; may be repeated.", metavar="FILE"),
        READS,
    ] = None,
    repair: Annotated[bool, Flag("Drop broken lines (not UTF-8, NUL, |||) and fix BOM, CR and tabs.")] = False,
    languages: Languages = None,
    placeholders: Annotated[bool, Flag("Write @number@ and @address@ where both sides have the same one.")] = False,
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
        hyperbaton clean a.zh a.en -o clean --also a.links --max-length 80
        hyperbaton clean raw.de raw.en -o clean --languages de en --repair
    """
    text = parse_languages(languages)
    report = clean_files(
        source,
        target,
        output,
        options,
        also=also or [],
        repair=repair,
        source_tokenizer=None if text is None else text.source.make_tokenizer(),
        target_tokenizer=None if text is None else text.target.make_tokenizer(),
        placeholders=placeholders,
        compression=suffix(compress),
        n_processes=common.n_threads,
    )
    for warning in report.warnings:
        say(f"warning: --{warning}", common.quiet)
    print_result(report.to_json(), report.rows(), json)
