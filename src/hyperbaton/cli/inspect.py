"""The command `inspect`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.align import Aligner, StoredScores, pair_gains
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.cli import Json, Quiet, Seed, Threads
from hyperbaton.cli._common import print_json, say
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import write_pieces


def inspect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links."), READS],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture to write, .svg, .png or .pdf; .html with --sample."),
        WRITES_FILE,
    ] = None,
    line: Annotated[int, typer.Option("--line", "-n", help="Number of the sentence pair, from 1.", min=1)] = 1,
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words.", min=1, max=255)] = 8,
    every_box: Annotated[bool, typer.Option("--all", help="Draw every phrase pair, not only the smallest.")] = False,
    sample: Annotated[
        int | None, typer.Option(help="Write a page of this many sentence pairs, the least certain first.", min=1)
    ] = None,
    worst: Annotated[
        bool, typer.Option("--worst", help="With --sample: the worst pairs of the text instead of random ones.")
    ] = False,
    scores: Annotated[
        str | None, typer.Option(help="With --sample: scores of these links, written by 'align --scores'."), READS
    ] = None,
    model: Annotated[Path | None, typer.Option(help="With --sample: a saved aligner that scores the links."), READS] = None,
    seed: Seed = 0,
    threads: Threads = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw one sentence pair, alignment matrix, phrase boxes and jumps; or write a page of many.

    Without -o a pair is drawn in characters, on stdout. With --json, print its words, links, visit order and phrase
    pairs. With --sample, one HTML page has pairs with lines between linked words, as strong as the aligner is sure of
    them, and lights up what the pointer is at. Scores come from --scores, --model, or an aligner that learns from
    this text.

    Examples:

        hyperbaton inspect train.zh train.en train.links --line 12

        hyperbaton inspect train.zh train.en train.links --line 12 -o pair.svg

        hyperbaton inspect train.zh train.en train.links --sample 50 --worst -o page.html
    """
    if sample is not None:
        _write_page(source, target, links, output, sample, worst, scores, model, seed, n_threads(threads), quiet)
        return
    if worst or scores or model:
        raise OptionError("--worst, --scores and --model are for a page of pairs: give --sample N")
    bitext = Bitext.read(source, target, links)
    if line > len(bitext):
        raise OptionError(f"--line {line}: {source} has {counted(len(bitext), 'line')}")
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.pair import draw_pair

        write_figure(draw_pair(bitext, line - 1, max_length=max_length, every_box=every_box), output)
        say(f"wrote {output}", quiet)
    if as_json:
        from hyperbaton.report.pair import describe_pair

        print_json(describe_pair(bitext, line - 1, max_length=max_length, every_box=every_box))
    elif output is None:
        from hyperbaton.report.pair_text import pair_text

        width = shutil.get_terminal_size().columns
        print(pair_text(bitext, line - 1, width=width, max_length=max_length, every_box=every_box), end="")


def _write_page(
    source: str,
    target: str,
    links: str,
    output: Path | None,
    sample: int,
    worst: bool,
    scores: str | None,
    model: Path | None,
    seed: int,
    threads: int,
    quiet: bool,
) -> None:
    from hyperbaton.report.pair_page import PairScores, choose_shown, pair_page

    if output is None or output.suffix != ".html":
        raise OptionError("--sample writes a page: give -o PAGE.html")
    if scores is not None and model is not None:
        raise OptionError("give --scores or --model, not both")
    bitext = Bitext.read(source, target, links, empty=True)
    if len(bitext) == 0:
        raise InputError("no sentence pairs to show", bitext.source.path)
    offsets = bitext.need_links().offsets
    if scores is not None:
        stored = StoredScores.read(scores)
        stored.check(len(bitext), bitext.need_links())
        found = PairScores(stored.confidences, stored.offsets, stored.logprobs)
    else:
        with Bars(quiet) as bars:
            aligner = Aligner.load(model) if model is not None else Aligner()
            if model is None:
                aligner.fit(bitext, threads=threads, progress=bars.stage("learn"))
            judged = aligner.score(bitext, threads=threads, progress=bars.stage("score"))
        found = PairScores(judged.confidences, offsets, judged.logprobs)
    chosen = choose_shown(pair_gains(bitext, found.logprobs), sample, worst=worst, seed=seed)
    write_pieces(output, [pair_page(bitext, found, chosen, f"{Path(source).name} – {Path(target).name}").encode()])
    say(f"wrote {output}", quiet)
