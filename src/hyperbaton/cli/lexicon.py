"""The command `lexicon`."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperbaton.align.aligners.hmm import KIND as ALIGNER
from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.align.lexicon import FORMATS, Lexicon, Selection, file_names
from hyperbaton.base.counted import counted, with_article
from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind
from hyperbaton.base.store import Artefact
from hyperbaton.cli import Json, Verify
from hyperbaton.cli._common import print_json, say, verify_artefacts
from hyperbaton.cli._paths import READS, Writes
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.extracted import KIND as PHRASES
from hyperbaton.phrases.extracted import ExtractedPhrases
from hyperbaton.phrases.lexicon import phrase_lexicon

HELP_GROUP = "Links and words"


def _files(values: Arguments) -> dict[AnyPath, Kind]:
    return dict.fromkeys(file_names(values["output"], values["format"]), "file")


def lexicon(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text; alone, an aligner or phrases."), READS],
    target: Annotated[str | None, typer.Argument(metavar="TGT", help="Target text."), READS] = None,
    links: Annotated[str | None, typer.Argument(metavar="LINKS", help="Word links."), READS] = None,
    *,
    selection: Selection,
    null: Annotated[bool, typer.Option("--null", help="Also list the empty word, NULL.")] = False,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lower-case the words of SRC and TGT.")] = False,
    format: Annotated[str, typer.Option(help=f"Output format ({', '.join(FORMATS)}).")] = "tsv",
    source_language: Annotated[str, typer.Option(metavar="XX", help="Code of the source language, for tbx.")] = "und",
    target_language: Annotated[str, typer.Option(metavar="XX", help="Code of the target language, for tbx.")] = "und",
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File to write, the prefix of two for bicleaner; - is stdout."),
        Writes("file", destinations=_files),
    ] = "-",
    verify: Verify = False,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Write a bilingual lexicon with probabilities in both directions.

    From linked text (SRC TGT LINKS) by counting; from the folder of an aligner (align --save-model) its own
    probabilities; from the folder of phrases (extract -o) those of phrases. Sorted by source word, the most probable
    translation first. With --json and -o, print the number of entries.

    Examples:

        hyperbaton lexicon train.zh train.en train.links --min-count 3 --top 5 > lexicon.tsv

        hyperbaton lexicon train.en train.es train.links --lowercase --relative 0.1 --format bicleaner -o dictionary

        hyperbaton lexicon phrases --min-count 5 --format tbx --source-language zh --target-language en -o phrases.tbx
    """
    if format not in FORMATS:
        raise OptionError(f"unknown format of lexicons {format!r}; known: {', '.join(FORMATS)}")
    if format == "bicleaner" and output == "-":
        raise OptionError("the format bicleaner is two files: give -o PREFIX")
    if target is None:
        if lowercase:
            raise OptionError("--lowercase is for SRC TGT LINKS; a trained model cannot be lowercased")
        verify_artefacts(verify, source)
        found = _stored(source, null)
    elif links is None:
        raise OptionError("give SRC TGT LINKS, or the folder of an aligner or of phrases")
    else:
        bitext = Bitext.read(source, target, links, empty=True)
        found = Lexicon.from_links(bitext, null=null, lowercase=lowercase, threads=common.n_threads)
    chosen = found.select(selection)
    chosen.write(output, format, languages=(source_language, target_language))
    if output != "-":
        if json:
            print_json(chosen.summary())
        else:
            say(counted(len(chosen), "entry", "entries"), common.quiet)


def _stored(path: str, null: bool) -> Lexicon:
    """The lexicon of an artefact."""
    kind = Artefact(path).kind
    if kind == ALIGNER:
        return Lexicon.from_table(Aligner.load(path).lexical_table(), null=null)
    if kind != PHRASES:
        raise ArtefactError(f"{path}: is {with_article(kind)} artefact, not an aligner or phrases")
    if null:
        raise OptionError("--null: phrases have no empty word")
    return phrase_lexicon(ExtractedPhrases.load(path).table)
