"""The verb `demo`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.progress import Bars
from hyperbaton.cli import Quiet, Seed
from hyperbaton.cli._common import print_table, say
from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from hyperbaton.phrases import extract, orientation_set


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pictures.")] = Path("demo"),
    style: Annotated[str, typer.Option(help="Language style of the generated text.")] = "chinese",
    sentences: Annotated[int, typer.Option(help="Sentence pairs to generate.", min=10)] = 10_000,
    seed: Seed = 1,
    quiet: Quiet = False,
) -> None:
    """Show phrase movements on generated text: statistics, distances, pictures.

    Example:

        hyperbaton demo --style japanese -o demo
    """
    from hyperbaton.report.figures import write_figure
    from hyperbaton.report.movements import class_table, corpus_statistics, draw_distances, movement_summary
    from hyperbaton.report.pair import draw_pair

    with Bars(quiet) as bars:
        generated = generate(sentences, style=style, seed=seed, progress=bars.stage("generate"))
        bitext = generated.bitext
        samples = extract(bitext, progress=bars.stage("extract"))
    print(f"{sentences:,} generated sentence pairs, {style}-like source, seed {seed}\n")
    print_table(corpus_statistics(bitext))
    print(f"\n{len(samples):,} phrase pairs up to 8 words, by signed distance d (|d| ≤ 15)\n")
    for name in ("three", "five"):
        print_table(class_table(samples, orientation_set(name)))
        print()
    shares = movement_summary(samples)
    print(
        f"{shares['moved']:.1f}% of the phrase pairs move, "
        f"{shares['short among moved']:.1f}% of these by fewer than 4 words; "
        f"{shares['beyond 15 among all']:.1f}% move farther than 15 words."
    )
    links = bitext.need_links()
    # A sentence pair to look at: of middle length, without noise in its links, with a long jump.
    shown = next((s for s, true in enumerate(generated.true_links) if true == links[s] and _worth_a_look(true)), 0)
    pictures = {"distances": draw_distances(samples, f"{len(samples):,} phrase pairs"), "pair": draw_pair(bitext, shown)}
    for name, picture in pictures.items():
        for ending in ("svg", "png"):
            write_figure(picture, output / f"{name}.{ending}")
    for name, part in (("source", bitext.source), ("target", bitext.target), ("links", links)):
        write_pieces(output / f"demo.{name}", part.pieces())
    say(
        f"\npictures: {output / 'distances.svg'}, {output / 'pair.svg'}; text: {output / 'demo.source'}, .target and .links"
    )


def _worth_a_look(links: list[tuple[int, int]]) -> bool:
    by_target = [i for i, _ in sorted(links, key=lambda link: link[1])]
    return 11 <= len(links) <= 14 and any(abs(b - a) > 6 for a, b in pairwise(by_target))
