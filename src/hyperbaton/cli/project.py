from __future__ import annotations

from typing import Annotated

from hyperbaton.align.annotation_files import KINDS, ProjectionOptions, project_files
from hyperbaton.align.projection import SPLITS
from hyperbaton.base.counted import counted
from hyperbaton.base.progress import Bars
from hyperbaton.cli._common import print_result
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Quiet
from hyperbaton.cli._raw import Languages, parse_languages


def project(
    kind: Annotated[str, Argument("KIND", "Kind of annotation to project.", choices=KINDS)],
    source: Annotated[str, Argument("SRC", "Annotated source sentences."), READS],
    target: Annotated[str, Argument("TGT", "Target text, tokenized unless --languages are given."), READS],
    links: Annotated[str, Argument("LINKS", "Word links."), READS],
    output: Annotated[str, Flag("File to write; - is stdout.", "-o"), WRITES_FILE] = "-",
    report: Annotated[
        str | None, Flag("File for annotations that could not be projected unchanged, as JSON lines."), WRITES_FILE
    ] = None,
    split: Annotated[
        str | None, Flag("Spans whose words are not adjacent. [default: largest; repeat for markup]", choices=SPLITS)
    ] = None,
    column: Annotated[
        int | None, Flag("tags: column of the tag [default: the last, or the fourth of .conllu].", minimum=1)
    ] = None,
    unlinked: Annotated[str, Flag("tags: tag of words without a link.", metavar="TAG")] = "_",
    characters: Annotated[bool, Flag("spans: count characters of text, not words.")] = False,
    languages: Languages = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Project labels, spans or inline markup through word links to the other language.

    SRC contains the source words with their annotation. tags: a CoNLL file with one word and its columns per line and an
    empty line after each sentence; BIO tags are projected as spans. spans: JSON lines with tokens (or text) and spans of
    begin (or start), end (half-open, words from 0) and label. markup: lines of tokens with HTML or XML tags. Ambiguous,
    split, lost or crossing annotations are settled by fixed rules, counted on stderr and listed by --report. With --json
    and -o, print the counts.

    With --languages, SRC (its text or markup) and TGT are raw text, spans are characters of it, and so is the output. The
    links are those of 'align --languages'.

    Examples:

        hyperbaton project tags train.en.conll train.de train.links > train.de.conll
        hyperbaton project spans en.jsonl a.de a.links --report conflicts -o de.jsonl
        hyperbaton project spans raw.jsonl raw.de a.links --languages en de > de.jsonl
        hyperbaton project markup page.en page.de page.links --split largest > marked
    """
    options = ProjectionOptions(split, column, unlinked, characters, parse_languages(languages))
    with Bars(quiet) as bars:
        counts = project_files(kind, source, target, links, output, options, report=report, progress=bars.stage("project"))
    conflicts = ", ".join(f"{n:,} {name}" for name, n in counts["conflicts"].items())
    summary = f"{counted(counts['sentences'], 'sentence')}; {conflicts or 'no conflicts'}"
    print_result(counts, summary, json and output != "-", quiet)
