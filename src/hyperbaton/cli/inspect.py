"""The verb `inspect`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Json, Quiet
from hyperbaton.cli._common import print_json, say
from hyperbaton.corpus import Bitext


def inspect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture to write: .svg, .png or .pdf.")] = None,
    line: Annotated[int, typer.Option("--line", "-n", help="Which sentence pair, from 1.", min=1)] = 1,
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words.", min=1, max=255)] = 8,
    every_box: Annotated[bool, typer.Option("--all", help="Draw every phrase pair, not only the smallest.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Draw one sentence pair: alignment matrix, phrase boxes and jumps.

    Without -o it is drawn in characters, on stdout. With --json, print its words, links, visit order and phrase pairs.

    Examples:

        hyperbaton inspect train.zh train.en train.links --line 12

        hyperbaton inspect train.zh train.en train.links --line 12 -o pair.svg

        hyperbaton inspect train.zh train.en train.links --line 12 --all --json
    """
    bitext = Bitext.read(source, target, links)
    if line > len(bitext):
        raise OptionError(f"--line {line}: {source} has {len(bitext)} lines")
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
