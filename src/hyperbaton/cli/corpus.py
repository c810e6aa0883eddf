"""The command `corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.align import ALIGNERS
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Json, Seed
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._paths import WRITES_FOLDER, names_plugin
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.clean import Cleaning
from hyperbaton.corpus.taggers import TAGGERS
from hyperbaton.corpus.tokenizers import TOKENIZERS
from hyperbaton.data.datasets import Catalogue
from hyperbaton.data.preparation import HELD_OUT, Preparation, get_corpus

HELP_GROUP = "Start here"

ACTIONS = ("get", "list")
NONE = "none"
DRAWN = "Pairs to draw from the text, or a dataset [default: 1000, or a tenth of the pairs if that is less]."


def corpus(
    action: Annotated[str, typer.Argument(metavar="get|list", help="Download datasets, or print their names.")],
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Datasets to get; to list, languages such as de-en, and a word.")
    ],
    cleaning: Cleaning,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder to write to."), WRITES_FOLDER] = None,
    languages: Annotated[
        str | None, typer.Option(metavar="XX-YY", help="Source and target language [default: as in the first name].")
    ] = None,
    train: Annotated[int, typer.Option(help="Pairs for training, at most; 0 takes all.", min=0)] = 0,
    dev: Annotated[str | None, typer.Option(metavar="N|NAME", help=DRAWN)] = None,
    devtest: Annotated[str | None, typer.Option(metavar="N|NAME", help=DRAWN)] = None,
    test: Annotated[str | None, typer.Option(metavar="N|NAME", help=DRAWN)] = None,
    tokenizer_source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Tokenizer of the source; by default that of its language."),
        names_plugin(TOKENIZERS),
    ] = None,
    tokenizer_target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tokenizer of the target."), names_plugin(TOKENIZERS)
    ] = None,
    tagger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:OPTION=VALUE]", help="Tagger of the source; by default its tokenizer tags it, if it can."
        ),
        names_plugin(TAGGERS),
    ] = None,
    aligner: Annotated[
        str,
        typer.Option(metavar="NAME[:OPTION=VALUE]", help="Aligner of the words; none leaves out the links."),
        names_plugin(ALIGNERS),
    ] = "hmm:for=phrases",
    seed: Seed = 1,
    *,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Download parallel text by name and prepare it for an experiment.

    `corpus get` downloads datasets listed by mtdata (OPUS, WMT, KFTT and many more), tokenizes and cleans their sentence
    pairs, draws dev, devtest and test from them, and links the words. It writes train.de, train.en, train.links and, with
    a tagger or a tokenizer that also tags, train.de.pos; likewise for the other parts; and corpus.json, which records how
    they were made. Sentences of the other parts are removed from train. The same seed draws the same pairs. Downloads are
    kept in ~/.mtdata, or in the folder named by the variable MTDATA. `corpus list` prints the names of the datasets of
    two languages.

    Needs hyperbaton[data]. Each dataset has its own licence.

    Examples:

        hyperbaton corpus list de-en tatoeba

        hyperbaton corpus get OPUS-tatoeba-v20230412-deu-eng -o corpora/tatoeba-de-en

        hyperbaton corpus get Phontron-kftt_train-1-jpn-eng --dev Phontron-kftt_tune-1-jpn-eng --test 500 -o corpora/kyoto
    """
    if action not in ACTIONS:
        raise typer.BadParameter(f"{action!r} is not one of {', '.join(ACTIONS)}", param_hint="get|list")
    if action == "list":
        _list(names, output, as_json)
        return
    if output is None:
        raise typer.BadParameter("'corpus get' needs the folder to write to", param_hint="--output")
    chosen = dict(zip(HELD_OUT, (dev, devtest, test), strict=True))
    how = Preparation(
        {split: int(value) if value.isdecimal() else value for split, value in chosen.items() if value is not None},
        train,
        cleaning,
        (tokenizer_source, tokenizer_target),
        tagger,
        None if aligner == NONE else aligner,
        seed,
    )
    with common.bars() as bars:
        made = get_corpus(names, output, how, languages=languages, threads=common.n_threads, bars=bars)
    for warning in made.report.warnings:
        say(f"warning: --{warning}", common.quiet)
    if as_json:
        print_json({"languages": made.languages, "pairs": made.n_pairs, "cleaning": made.report.to_json()})
        return
    print_table([{"part": split, "pairs": n_pairs} for split, n_pairs in made.n_pairs.items()])
    dropped = made.report.n_read - made.report.n_kept
    say(f"{output}: {counted(made.report.n_read, 'sentence pair')} read, {dropped:,} dropped", common.quiet)


def _list(names: list[str], output: Path | None, as_json: bool) -> None:
    """Print the names of datasets."""
    languages, *words = names
    if output is not None or len(words) > 1:
        raise OptionError("'corpus list' takes two languages such as de-en and at most one word, and no --output")
    catalogue = Catalogue()
    found = catalogue.names(catalogue.parse_languages(languages), *words)
    if as_json:
        print_json(found)
    else:
        print("\n".join(found))
