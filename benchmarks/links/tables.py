"""Effect of links on the phrase table: numbers and lengths of phrase pairs, and words without links or translations.

    python -m benchmarks.links.tables SRC TGT --pairs 10000 --test TEXT --links eflomal=LINKS --settings '' '--confidence 0'

One aligner is trained on the text, or read from --model; each setting (flags of `align` that choose links) and each file
of --links gives a set of links. The columns:

    links           links per source word
    unlinked        percentage of source and target words without a link
    samples         occurrences of phrase pairs per sentence pair
    pairs           distinct phrase pairs per sentence pair.
    lengths         mean length of a sample, source and target words
    unknown         percentage of words of the test text without a translation as one-word phrases
    target words    mean number of target words in the most probable translation of a source word of the test text
"""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace

import numpy as np

from benchmarks._measure import existing
from hyperbaton.align import Aligner, read_links
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.phrases import PhraseTable, extract

COLUMNS = ("links", "unlinked", "samples", "pairs", "lengths", "unknown", "target words")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=existing)
    parser.add_argument("target", type=existing)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--test", required=True, help="source text to translate")
    parser.add_argument("--links", nargs="*", default=[], metavar="NAME=FILE", help="links of others")
    parser.add_argument("--model", type=existing, help="a saved aligner, instead of one trained on the text")
    parser.add_argument("--learning", default="", help="flags of `align` for learning")
    parser.add_argument("--settings", nargs="*", default=[""], help="flags of `align` for choosing links")
    options = parser.parse_args()
    every = np.arange(options.pairs)
    source, target = (Text.read(path).select(every) for path in (options.source, options.target))
    bitext, test = Bitext(source, target), Text.read(options.test)
    aligner = Aligner.load(options.model) if options.model else _with(Aligner(), options.learning).fit(bitext)
    print("setting", *COLUMNS, sep="\t")
    for setting in options.settings:
        choosing = _with(Aligner(), setting)
        vars(aligner).update({name: getattr(choosing, name) for name in Aligner.link_options})
        print(setting or "defaults", *row(bitext, aligner.align(bitext), test), sep="\t", flush=True)
    for name, _, path in (given.partition("=") for given in options.links):
        print(name, *row(bitext, read_links(path).select(every), test), sep="\t", flush=True)


def _with(aligner: Aligner, flags: str) -> Aligner:
    """An aligner with some flags changed."""
    words = shlex.split(flags)
    changes = dict(zip((flag.removeprefix("--") for flag in words[::2]), words[1::2], strict=True))
    kinds = {opt.flag: type(value) for opt, value in zip(options_of(Aligner), to_mapping(aligner).values(), strict=True)}
    numbers = {flag: kinds[flag](value) if kinds[flag] in (int, str) else float(value) for flag, value in changes.items()}
    return from_mapping(Aligner, to_mapping(aligner) | numbers)


def row(bitext: Bitext, links: Links, test: Text) -> list[str]:
    """The columns for one set of links."""
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    unlinked = []
    for side, text in enumerate((bitext.source, bitext.target)):
        linked = np.unique(text.offsets[sentence] + links.points[:, side])
        unlinked.append(100 * (1 - len(linked) / text.n_tokens))
    linked_text = replace(bitext, links=links)
    samples = extract(linked_text, 7)
    table = PhraseTable.build(linked_text, samples)
    unknown, lengths = 0, []
    for word, count in zip(test.vocabulary.words(), np.bincount(test.tokens).tolist(), strict=True):
        translations = table.options_of(word)
        unknown += 0 if translations else count
        lengths += [len(translations[0][0].split())] * count if translations else []
    return [
        f"{len(links.points) / bitext.source.n_tokens:.2f}",
        " ".join(f"{share:.1f}" for share in unlinked),
        f"{len(samples) / len(links):.0f}",
        f"{len(table) / len(links):.1f}",
        f"{samples.source_length.mean():.2f} {samples.target_length.mean():.2f}",
        f"{100 * unknown / test.n_tokens:.2f}",
        f"{np.mean(lengths):.3f}",
    ]


if __name__ == "__main__":
    main()
