"""The command `translate`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Verify
from hyperbaton.cli._common import append_parts, at_terminal, say, verify_artefacts
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.cli._resources import ShardOptions
from hyperbaton.cli._system import (
    DecodingFlags,
    SourceTags,
    SourceTrees,
    Weights,
    changed,
    naming_inputs,
    parse_weights,
)
from hyperbaton.corpus.files import writing_outputs
from hyperbaton.decode import System, Translator
from hyperbaton.decode.annotated import BATCH, SourceText
from hyperbaton.decode.writing import TranslationOutputs

if TYPE_CHECKING:
    from hyperbaton.decode.glossary import Glossary

HELP_GROUP = "Translate"


def translate(
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="A translation system."), READS],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text."), READS] = "-",
    *,
    source_tags: SourceTags = None,
    source_trees: SourceTrees = None,
    nbest: Annotated[int, typer.Option(help="Write this many translations of each sentence, in Moses' format.", min=0)] = 0,
    distinct: Annotated[bool, typer.Option(help="With --nbest: omit duplicate translations.")] = False,
    alignment: Annotated[bool, typer.Option(help="With --nbest: show the phrase alignment.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write the translations to; - is stdout."), WRITES_FILE
    ] = "-",
    trace: Annotated[
        str | None,
        typer.Option(help="Write the derivation of each translation, one JSON object per line; - is stdout."),
        WRITES_FILE,
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(help="Write the links of each translation to its source, for 'hyperbaton score'; - is stdout."),
        WRITES_FILE,
    ] = None,
    search_graph: Annotated[
        str | None, typer.Option(help="Write the search graph: every surviving hypothesis; - is stdout."), WRITES_FILE
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Translate raw text, with the system's text processing.")] = False,
    html: Annotated[
        bool, typer.Option("--html", help="With --raw: translate the text as one HTML page and keep its structure.")
    ] = False,
    glossary: Annotated[
        str | None, typer.Option(help="Force translations of terms: lines of term, tab, translation."), READS
    ] = None,
    unbuffered: Annotated[
        bool, typer.Option("--unbuffered", help="Translate one line at a time, and write it before reading the next.")
    ] = False,
    verify: Verify = False,
    weight: Weights = None,
    flags: DecodingFlags,  # type: ignore[valid-type]
    common: ShardOptions,
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

        hyperbaton translate system test.zh --source-tags test.zh.pos --source-trees test.zh.trees -o test.hyp

        hyperbaton translate system --raw --glossary terms.tsv < letter.de > letter.en

        hyperbaton translate system --raw --html page.de -o page.en

        hyperbaton translate system test.zh --nbest 100 --distinct --distortion-limit -1 > test.nbest

        hyperbaton translate system web.zh -o web.hyp --executor dask://10.0.0.1:8786 --shards 200
    """
    if raw and (nbest or trace or links or search_graph or source_tags or source_trees):
        raise OptionError(
            "--raw writes only translations: leave out --nbest, --trace, --links, --search-graph and annotations"
        )
    if html and not raw:
        raise OptionError("--html needs --raw")
    if html and (unbuffered or common.executor is not None or common.shards):
        raise OptionError("--html translates the text as one page: leave out --unbuffered, --executor and --shards")
    named = {"output": output, "trace": trace, "links": links, "search-graph": search_graph}
    places = {name: path for name, path in named.items() if path is not None}
    wanted = TranslationOutputs(tuple(places), nbest, distinct, alignment, raw, html)
    with ExitStack() as stack:
        stack.enter_context(naming_inputs(None if raw else source, source_tags, source_trees))
        outputs = stack.enter_context(writing_outputs({f"--{name}": path for name, path in places.items()}))
        verify_artefacts(verify, system)
        loaded = System.load(system).with_weights(parse_weights(weight))
        terms = None
        if glossary is not None:
            from hyperbaton.decode.glossary import Glossary  # only here: most texts have none

            terms = Glossary.read(glossary, loaded.text if raw else None)
        decoding = changed(loaded, flags)
        text = SourceText(source, source_tags, source_trees, raw, decoding.markup)
        bars = common.bars(at_terminal(source, places.values()))
        resources = stack.enter_context(common.open(output, bars)).stage("translate")
        if resources.sharding is not None:
            from hyperbaton.decode.shards import translate_shards  # only here: most texts are not split

            _report_conflicts(terms, common.quiet)
            for written in translate_shards(
                loaded,
                text,
                wanted,
                sharding=resources.sharding,
                decoding=decoding,
                glossary=terms,
                progress=resources.progress,
            ):
                append_parts(outputs, written.files)
                for conflict in written.conflicts:
                    say(f"warning: {conflict}", common.quiet)
            return
        translator = Translator(loaded, decoding, threads=resources.threads, glossary=terms)
        groups = text.page() if html else text.groups(1 if unbuffered else BATCH)
        done = 0
        for n, pieces in wanted.write(translator, groups):
            for name, piece in pieces.items():
                outputs[f"--{name}"].write(piece)
                outputs[f"--{name}"].flush()
            done += n
            resources.report(done, done)
            _report_conflicts(terms, common.quiet)


def _report_conflicts(glossary: Glossary | None, quiet: bool) -> None:
    for conflict in [] if glossary is None else glossary.take_conflicts():
        say(f"warning: {conflict}", quiet)
