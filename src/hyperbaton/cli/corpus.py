from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.align import ALIGNERS
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._parameters import WRITES_FOLDER, Argument, Flag, Json, Seed, names_plugin
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.clean import Cleaning
from hyperbaton.corpus.taggers import TAGGERS
from hyperbaton.corpus.tokenizers import TOKENIZERS
from hyperbaton.data.datasets import Catalogue
from hyperbaton.data.gold import GOLD_SETS
from hyperbaton.data.preparation import HELD_OUT, LAYOUTS, Preparation, get_corpus

NONE = "none"
DRAWN = "Pairs to draw from the text, or a dataset [default: 1000, or a tenth of the pairs if that is less]."


def corpus(
    action: Annotated[str, Argument("get|list", "Download datasets, or print their names.", choices=("get", "list"))],
    names: Annotated[list[str], Argument("NAME...", "Datasets to get; to list, languages such as de-en, and a word.")],
    cleaning: Cleaning,
    output: Annotated[Path | None, Flag("Folder to write to.", "-o"), WRITES_FOLDER] = None,
    languages: Annotated[
        str | None, Flag("Source and target language [default: as in the first name].", metavar="XX-YY")
    ] = None,
    train: Annotated[int, Flag("Pairs for training, at most; 0 takes all.", minimum=0)] = 0,
    dev: Annotated[str | None, Flag(DRAWN, metavar="N|NAME")] = None,
    devtest: Annotated[str | None, Flag(DRAWN, metavar="N|NAME")] = None,
    test: Annotated[str | None, Flag(DRAWN, metavar="N|NAME")] = None,
    tokenizer_source: Annotated[
        str | None,
        Flag("Tokenizer of the source; by default that of its language.", metavar="NAME"),
        names_plugin(TOKENIZERS),
    ] = None,
    tokenizer_target: Annotated[
        str | None, Flag("Tokenizer of the target.", metavar="NAME"), names_plugin(TOKENIZERS)
    ] = None,
    tagger: Annotated[
        str | None,
        Flag("Tagger of the source; by default its tokenizer tags it, if it can.", metavar="NAME[:OPTION=VALUE]"),
        names_plugin(TAGGERS),
    ] = None,
    aligner: Annotated[
        str, Flag("Aligner of the words; none leaves out the links.", metavar="NAME[:OPTION=VALUE]"), names_plugin(ALIGNERS)
    ] = "hmm:for=phrases",
    layout: Annotated[
        str, Flag("benchmarks: files as benchmarks and papers read them, .xz, and more.* beside train.*", choices=LAYOUTS)
    ] = "plain",
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

    The test sets gold-de-en, gold-fr-en and gold-ro-en have links made by hand, in gold.sure.links and
    gold.possible.links; they are got alone, as they are.

    Needs the extra data, but not for test sets. Each dataset has its own licence.

    Examples:

        hyperbaton corpus list de-en tatoeba
        hyperbaton corpus get OPUS-tatoeba-v20230412-deu-eng -o corpora/tatoeba-de-en
        hyperbaton corpus get Phontron-kftt_train-1-jpn-eng --test 500 -o kyoto
        hyperbaton corpus get OPUS-tatoeba-v20230412-ara-eng --layout benchmarks -o ar
        hyperbaton corpus get gold-ro-en -o corpora/gold-links/ro-en-wpt
    """
    if action == "list":
        _list(names, output, as_json)
        return
    if output is None:
        raise OptionError("'corpus get' needs --output, the folder to write to")
    chosen = dict(zip(HELD_OUT, (dev, devtest, test), strict=True))
    preparation = Preparation(
        {split: int(value) if value.isdecimal() else value for split, value in chosen.items() if value is not None},
        train,
        cleaning,
        (tokenizer_source, tokenizer_target),
        tagger,
        None if aligner == NONE else aligner,
        seed,
        layout,
    )
    with common.bars() as bars:
        prepared = get_corpus(names, output, preparation, languages=languages, threads=common.n_threads, bars=bars)
    for warning in prepared.report.warnings:
        say(f"warning: --{warning}", common.quiet)
    if as_json:
        print_json({"languages": prepared.languages, "pairs": prepared.n_pairs, "cleaning": prepared.report.to_json()})
        return
    print_table([{"part": split, "pairs": n_pairs} for split, n_pairs in prepared.n_pairs.items()])
    dropped = prepared.report.n_read - prepared.report.n_kept
    say(f"{output}: {counted(prepared.report.n_read, 'sentence pair')} read, {dropped:,} dropped", common.quiet)


def _list(names: list[str], output: Path | None, as_json: bool) -> None:
    languages, *words = names
    if output is not None or len(words) > 1:
        raise OptionError("'corpus list' takes two languages such as de-en and at most one word, and no --output")
    catalogue = Catalogue(names_only=True)
    pair = catalogue.parse_languages(languages)
    codes, word = {catalogue.code(language) for language in pair}, "".join(words).lower()
    datasets = [name for name, gold in GOLD_SETS.items() if set(gold.languages) == codes and word in name]
    datasets += catalogue.names(pair, *words)
    if as_json:
        print_json(datasets)
    else:
        print("\n".join(datasets))
