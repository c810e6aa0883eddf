"""The command `project`."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperbaton.align.annotation_files import KINDS, ProjectionOptions, project_files
from hyperbaton.align.projection import SPLITS
from hyperbaton.base.counted import counted
from hyperbaton.base.progress import Bars
from hyperbaton.cli import Json, Quiet
from hyperbaton.cli._common import print_json, say
from hyperbaton.cli._paths import READS, WRITES_FILE

HELP_GROUP = "Links and words"


def project(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"Kind of annotation to project ({', '.join(KINDS)}).")],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Annotated source sentences."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links."), READS],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout."), WRITES_FILE] = "-",
    report: Annotated[
        str | None,
        typer.Option(help="File for annotations that could not be projected unchanged, as JSON lines."),
        WRITES_FILE,
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help=f"Spans whose words are not adjacent: {', '.join(SPLITS)}. [default: largest; repeat for markup]"
        ),
    ] = None,
    column: Annotated[
        int | None, typer.Option(help="tags: column of the tag; default: the last, or the fourth of .conllu.", min=1)
    ] = None,
    unlinked: Annotated[str, typer.Option(metavar="TAG", help="tags: tag of words without a link.")] = "_",
    characters: Annotated[bool, typer.Option("--characters", help="spans: count characters of text, not words.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Project labels, spans or inline markup through word links to the other language.

    SRC contains the source words with their annotation. tags: a CoNLL file with one word and its columns per line and an
    empty line after each sentence; BIO tags are projected as spans. spans: JSON lines with tokens (or text) and spans of
    begin, end (half-open, words from 0) and label. markup: lines of tokens with HTML or XML tags. Ambiguous, split, lost
    or crossing annotations are settled by fixed rules, counted on stderr and listed by --report. With --json and -o,
    print the counts.

    Examples:

        hyperbaton project tags train.en.conll train.de train.links > train.de.conll

        hyperbaton project spans names.en.jsonl train.de train.links --report conflicts.jsonl -o names.de.jsonl

        hyperbaton project markup page.en page.de page.links --split largest > page.de.marked
    """
    options = ProjectionOptions(split, column, unlinked, characters)
    with Bars(quiet) as bars:
        found = project_files(kind, source, target, links, output, options, report=report, progress=bars.stage("project"))
    if json and output != "-":
        print_json(found)
    else:
        counts = ", ".join(f"{n:,} {name}" for name, n in found["conflicts"].items())
        say(f"{counted(found['sentences'], 'sentence')}; {counts or 'no conflicts'}", quiet)
