from __future__ import annotations

from typing import Annotated

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.align.base import KIND as ALIGNER
from hyperbaton.align.lexicon import FORMATS, Lexicon, Selection, file_names
from hyperbaton.base.counted import counted, with_article
from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind
from hyperbaton.base.store import Artefact
from hyperbaton.cli._common import print_result, verify_artefacts
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Verify, Writes
from hyperbaton.cli._raw import ADVICE, Languages, Tokenized, parse_languages, warn_of_raw
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext
from hyperbaton.phrases.extraction import KIND as PHRASES
from hyperbaton.phrases.extraction import ExtractedPhrases
from hyperbaton.phrases.table import phrase_lexicon


def _files(values: Arguments) -> dict[AnyPath, Kind]:
    return dict.fromkeys(file_names(values["output"], values["format"]), "file")


def lexicon(
    source: Annotated[str, Argument("SRC", "Source text; alone, an aligner or phrases."), READS],
    target: Annotated[str | None, Argument("TGT", "Target text."), READS] = None,
    links: Annotated[str | None, Argument("LINKS", "Word links."), READS] = None,
    *,
    selection: Selection,
    null: Annotated[bool, Flag("Also list the empty word, NULL.")] = False,
    lowercase: Annotated[bool, Flag("Lower-case the words of SRC and TGT.")] = False,
    format: Annotated[str, Flag("Output format.", choices=FORMATS)] = "tsv",
    languages: Languages = None,
    tokenized: Tokenized = False,
    output: Annotated[
        str, Flag("File to write, the prefix of two for bicleaner; - is stdout.", "-o"), Writes("file", destinations=_files)
    ] = "-",
    verify: Verify = False,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Write a bilingual lexicon with probabilities in both directions.

    From linked text (SRC TGT LINKS) by counting; from the folder of an aligner (align --save-model) its own
    probabilities; from the folder of phrases (extract -o) those of phrases. Sorted by source word, the most probable
    translation first. With --json and -o, print the number of entries.

    With --languages, SRC and TGT are raw text, tokenized as by 'align --languages', unless --tokenized is given. The
    format tbx names the languages.

    Examples:

        hyperbaton lexicon a.zh a.en a.links --min-count 3 --top 5 > lexicon.tsv
        hyperbaton lexicon a.en a.es a.links --lowercase --format bicleaner -o words
        hyperbaton lexicon raw.de raw.en a.links --languages de en --top 5 > words.tsv
        hyperbaton lexicon phrases --format tbx --languages zh en -o phrases.tbx
    """
    text = parse_languages(languages)
    if format == "bicleaner" and output == "-":
        raise OptionError("the format bicleaner is two files: give -o PREFIX")
    if target is None:
        if lowercase:
            raise OptionError("--lowercase is for SRC TGT LINKS; a trained model cannot be lowercased")
        verify_artefacts(verify, source)
        entries = _stored(source, null)
    elif links is None:
        raise OptionError("give SRC TGT LINKS, or the folder of an aligner or of phrases")
    else:
        raw = None if tokenized else text
        bitext = Bitext.read(source, target, links, languages=raw, empty=True, processes=common.n_threads)
        quiet = common.quiet or tokenized or raw is not None
        for path, side in ((source, bitext.source), (target, bitext.target)):
            warn_of_raw(path, side, quiet, ADVICE)
        entries = Lexicon.from_links(bitext, null=null, lowercase=lowercase, threads=common.n_threads)
    chosen = entries.select(selection)
    chosen.write(output, format, languages=("und", "und") if text is None else (text.source.language, text.target.language))
    if output != "-":
        print_result(chosen.summary(), counted(len(chosen), "entry", "entries"), json, common.quiet)


def _stored(path: str, null: bool) -> Lexicon:
    kind = Artefact(path).kind
    if kind == ALIGNER:
        return Lexicon.from_table(Aligner.load(path).lexical_table(), null=null)
    if kind != PHRASES:
        raise ArtefactError(f"{path}: is {with_article(kind)} artefact, not an aligner or phrases")
    if null:
        raise OptionError("--null: phrases have no empty word")
    return phrase_lexicon(ExtractedPhrases.load(path).table)
