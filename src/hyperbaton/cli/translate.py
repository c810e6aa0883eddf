from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from hyperbaton.base.errors import OptionError
from hyperbaton.cli._common import at_terminal, say
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag
from hyperbaton.cli._raw import Tokenized, warn_of_raw
from hyperbaton.cli._resources import ExecutorOptions
from hyperbaton.cli._system import DecodingFlags, SystemOptions, changed
from hyperbaton.corpus.files import writing_outputs
from hyperbaton.decode import System
from hyperbaton.decode.annotated import BATCH, AnnotatedLines, SourceText, words_of
from hyperbaton.decode.consensus import Consensus
from hyperbaton.decode.translating import TranslationOutputs, translate_groups


def translate(
    system: Annotated[Path, Argument("SYSTEM", "A translation system."), READS],
    source: Annotated[str, Argument("SRC", "Source text."), READS] = "-",
    *,
    nbest: Annotated[int, Flag("Write this many translations of each sentence, in Moses' format.", minimum=0)] = 0,
    distinct: Annotated[bool, Flag("With --nbest: omit duplicate translations.")] = False,
    alignment: Annotated[bool, Flag("With --nbest: show the phrase alignment.")] = False,
    output: Annotated[str, Flag("File to write the translations to; - is stdout.", "-o"), WRITES_FILE] = "-",
    trace: Annotated[
        str | None, Flag("Write the derivation of each translation, one JSON object per line; - is stdout."), WRITES_FILE
    ] = None,
    links: Annotated[
        str | None,
        Flag("Write the links of each translation to its source, for 'hyperbaton score'; - is stdout."),
        WRITES_FILE,
    ] = None,
    search_graph: Annotated[
        str | None, Flag("Write the search graph: every surviving hypothesis; - is stdout."), WRITES_FILE
    ] = None,
    raw: Annotated[bool, Flag("Translate raw text, with the system's text processing.")] = False,
    html: Annotated[bool, Flag("With --raw: translate the text as one HTML page and keep its structure.")] = False,
    tokenized: Tokenized = False,
    glossary: Annotated[str | None, Flag("Force translations of terms: lines of term, tab, translation."), READS] = None,
    unbuffered: Annotated[bool, Flag("Translate one line at a time, and write it before reading the next.")] = False,
    consensus: Consensus,
    systems: Annotated[
        list[Path] | None, Flag("With --mbr: more systems, whose translations are pooled.", metavar="SYSTEM..."), READS
    ] = None,
    options: SystemOptions,
    flags: DecodingFlags,  # type: ignore[valid-type]
    common: ExecutorOptions,
) -> None:
    """Translate sentences, one line out for each line in.

    The text is tokenized or, with --raw, ordinary text: then every line is a paragraph of any number of sentences, and
    tags such as <b> and </b> are placed around the words aligned with their contents. With --html the whole text is one
    page: sentences may continue on the next line, and paragraphs, lists and tables keep their places.

    Lines that arrive together are translated together, at most 256 at a time, and written before more input is read: a
    terminal, or a program that writes a line and waits for its translation, gets its answer at once. Output files appear
    when they are complete.

    Examples:

        hyperbaton translate system < test.zh > test.hyp
        hyperbaton translate system test.zh --source-tags test.zh.pos -o test.hyp
        hyperbaton translate system --raw --glossary terms.tsv < letter.de > letter.en
        hyperbaton translate system --raw --html page.de -o page.en
        hyperbaton translate system test.zh --nbest 100 --distinct > test.nbest
        hyperbaton translate system test.zh --mbr 100 --systems rules > test.hyp
        hyperbaton translate system web.zh -o web.hyp --executor dask://HOST:8786
    """
    if raw and (nbest or trace or links or search_graph or options.source_tags or options.source_trees):
        raise OptionError(
            "--raw writes only translations: leave out --nbest, --trace, --links, --search-graph and annotations"
        )
    if html and not raw:
        raise OptionError("--html needs --raw")
    if html and (unbuffered or common.executor is not None):
        raise OptionError("--html translates the text as one page: leave out --unbuffered and --executor")
    if consensus.mbr and (nbest or trace or links or search_graph or raw):
        raise OptionError("--mbr writes only translations: leave out --nbest, --trace, --links, --search-graph and --raw")
    if systems and not consensus.mbr:
        raise OptionError("--systems needs --mbr")
    named = {"output": output, "trace": trace, "links": links, "search-graph": search_graph}
    places = {name: path for name, path in named.items() if path is not None}
    wanted = TranslationOutputs(tuple(places), nbest, distinct, alignment, raw, html, consensus)
    with ExitStack() as stack:
        stack.enter_context(options.naming_inputs(None if raw else source))
        outputs = stack.enter_context(writing_outputs({f"--{name}": path for name, path in places.items()}))
        loaded = options.load(system, *(systems or []))
        terms = None
        if glossary is not None:
            from hyperbaton.decode.raw import Glossary  # only here: most texts have none

            terms = Glossary.read(glossary, loaded.text if raw else None)
        decoding = changed(loaded, flags)
        others = [(other, changed(other, flags)) for other in map(System.load, systems or [])]
        text = SourceText(source, options.source_tags, options.source_trees, raw, decoding.markup)
        bars = common.bars(at_terminal(source, places.values()))
        resources = stack.enter_context(common.open(output, bars)).stage("translate")
        _report([] if terms is None else terms.take_conflicts(), common.quiet)
        groups = text.page() if html else text.groups(1 if unbuffered else BATCH)
        done = 0
        if not raw:
            advice = "tokenize it ('hyperbaton tokenize')" if loaded.text is None else "add --raw"
            groups = _warned(groups, source, common.quiet or tokenized, advice)
        for part in translate_groups(loaded, groups, wanted, decoding, terms, resources, others):
            for name, piece in part.pieces.items():
                outputs[f"--{name}"].write(piece)
                outputs[f"--{name}"].flush()
            done += part.n_lines
            resources.report(done, done)
            _report(part.conflicts, common.quiet)


def _warned(groups: Iterator[AnnotatedLines], source: str, quiet: bool, advice: str) -> Iterator[AnnotatedLines]:
    """The groups, with a warning if the first looks like raw text."""
    for n, group in enumerate(groups):
        warn_of_raw(source, map(words_of, group.lines), quiet or n > 0, advice)
        yield group


def _report(conflicts: list[str], quiet: bool) -> None:
    for conflict in conflicts:
        say(f"warning: {conflict}", quiet)
